import type { KubernetesApi } from '../../kubernetes/api.ts';
import type { BackOff } from '../pod/back-off.ts';
import type { AddressBook } from './addresses.ts';
import type { EventRecorder } from './events.ts';
import type { Images } from './images.ts';

/** What the pods of one node share. */
export interface NodeContext {
  readonly name: string;
  readonly address: string;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly api: KubernetesApi;
  readonly images: Images;
  readonly events: EventRecorder;
  readonly addresses: AddressBook;
  /** Below it each pod has a directory named by its uid. */
  readonly podsDir: string;
  readonly bwrap: string;
  readonly backOff: BackOff;
  /** Variables that every container gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** False while the node is lost or killed: then nothing is done and nothing is told. */
  readonly isActive: () => boolean;
  readonly log: (message: string, error?: unknown) => void;
}
