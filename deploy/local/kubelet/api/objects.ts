/** The parts of Kubernetes objects that a node reads and writes, as they are on the wire (times are strings). */

/** Metadata of any object. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
}

/** Any object that has metadata. */
export interface ApiObject {
  readonly metadata: ObjectMeta;
}

/** A ConfigMap or a Secret; values of a Secret and `binaryData` are base64. */
export interface KeyedData extends ApiObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** A reference to one field of the pod. */
export interface FieldRef {
  readonly fieldPath: string;
}

/** A reference to a request or a limit of a container. */
export interface ResourceFieldRef {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

interface KeyRef {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** One environment variable of a container. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: FieldRef;
    readonly resourceFieldRef?: ResourceFieldRef;
    readonly configMapKeyRef?: KeyRef;
    readonly secretKeyRef?: KeyRef;
  };
}

/** A whole ConfigMap or Secret as environment variables. */
export interface EnvFrom {
  readonly prefix?: string;
  readonly configMapRef?: { readonly name?: string; readonly optional?: boolean };
  readonly secretRef?: { readonly name?: string; readonly optional?: boolean };
}

/** What a probe or a lifecycle hook does. */
export interface Handler {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: {
    readonly path?: string;
    readonly port: number | string;
    readonly host?: string;
    readonly scheme?: string;
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly sleep?: { readonly seconds: number };
  readonly grpc?: { readonly port: number };
}

/** A startup, readiness or liveness probe. */
export interface Probe extends Handler {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

/** Where a container sees a volume. */
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

/** The security settings that the sandbox knows. */
export interface SecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
}

/** How a container that ended is treated. */
export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** One container of a pod, init or main. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string | number>>;
    readonly requests?: Readonly<Record<string, string | number>>;
  };
  readonly restartPolicy?: RestartPolicy;
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: {
    readonly postStart?: Handler;
    readonly preStop?: Handler;
    readonly stopSignal?: string;
  };
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly securityContext?: SecurityContext;
}

interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

/** One file of a downward API volume. */
export interface DownwardFile {
  readonly path: string;
  readonly fieldRef?: FieldRef;
  readonly resourceFieldRef?: ResourceFieldRef;
  readonly mode?: number;
}

/** Files from a ConfigMap (`name`) or a Secret (`secretName` outside projections). */
export interface KeyedSource {
  readonly name?: string;
  readonly secretName?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
  readonly defaultMode?: number;
}

/** One source of a projected volume. */
export interface ProjectedSource {
  readonly serviceAccountToken?: {
    readonly path: string;
    readonly audience?: string;
    readonly expirationSeconds?: number;
  };
  readonly configMap?: KeyedSource;
  readonly secret?: KeyedSource;
  readonly downwardAPI?: { readonly items?: readonly DownwardFile[] };
}

/** One volume of a pod. */
export interface Volume {
  readonly name: string;
  readonly configMap?: KeyedSource;
  readonly secret?: KeyedSource;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly downwardAPI?: { readonly items?: readonly DownwardFile[]; readonly defaultMode?: number };
  readonly projected?: { readonly sources?: readonly ProjectedSource[]; readonly defaultMode?: number };
}

/** What a pod asks for. */
export interface PodSpec {
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly serviceAccountName?: string;
  readonly restartPolicy?: RestartPolicy;
  readonly activeDeadlineSeconds?: number;
  readonly terminationGracePeriodSeconds?: number;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: SecurityContext;
}

/** One condition of a pod. */
export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

/** The state of a container as the API shows it. */
export interface ContainerStateStatus {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
}

/** The status of one container as the API shows it. */
export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly state: ContainerStateStatus;
  readonly lastState: ContainerStateStatus;
}

/** What a node writes about a pod. */
export interface PodStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly qosClass?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly PodCondition[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

/** A pod. */
export interface Pod extends ApiObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}
