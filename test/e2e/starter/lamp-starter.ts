import { runService } from '../../../starter/service.ts';
import { lampWatch } from '../../conformance/starter/lamp.ts';

// The very process of service, with the lifecycle of the tests.
await runService([lampWatch]);
