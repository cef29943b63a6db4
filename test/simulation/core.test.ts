import { describeCore } from '../conformance/core/suite.ts';
import { simulatedTheatre } from './simulated-theatre.ts';

describeCore('the simulator', async () => simulatedTheatre());
