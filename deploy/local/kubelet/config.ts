/** Where the processes of a container find their programs. */
export interface Image {
  /** The directory whose programs the container sees in `/usr/local/bin`; absent when the root brings its own. */
  readonly programs?: string;
  /** A whole root file system in place of the machine's own read-only one. */
  readonly root?: string;
  /** What the image would run when the pod names no command. */
  readonly entrypoint?: readonly string[];
}

/** Image names, exactly as pods write them, and what they stand for. Any other name is an `ErrImagePull`. */
export type ImageCatalogue = Readonly<Record<string, Image>>;

/** One `Node` object and the zone that it claims to stand in. */
export interface NodeSpec {
  readonly name: string;
  readonly zone: string;
}

/** What the node process is started with, as a JSON file named by its only argument. */
export interface KubeletConfig {
  readonly kubeconfig: string;
  readonly nodes: readonly NodeSpec[];
  /** Pod directories, logs, volumes and the record of running containers live below it and survive a restart. */
  readonly stateDir: string;
  /** JSON file with an `ImageCatalogue`, read again when it changes. */
  readonly imagesFile: string;
  /** The second octet of the pod addresses, `127.<octet>.y.z`, so that stacks live side by side. */
  readonly podOctet: number;
  /** Where the API server reaches this process for logs and exec; each node has its own address on it. */
  readonly serverPort: number;
  /** The path of bubblewrap. */
  readonly bwrap: string;
  /** How restarts of failing containers are held back; by default from 1 s up to 30 s, where a kubelet takes 10 s and 300 s. */
  readonly restartBackOff?: { readonly baseMs: number; readonly maxMs: number };
  /** What each node claims to have; by default 8 cores and 16Gi, whatever the machine has. */
  readonly capacity?: { readonly cpu: string; readonly memory: string };
}
