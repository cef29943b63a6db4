import { describeLostData } from './loss.ts';

describeLostData({ labels: { team: 'cache' } });
