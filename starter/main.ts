import { loadWatches } from './load-watches.ts';
import { runService } from './service.ts';

await runService(await loadWatches());
