import { kubernetesSuite } from './suite.ts';
import { openStage } from './stage.ts';

kubernetesSuite(() => openStage());
