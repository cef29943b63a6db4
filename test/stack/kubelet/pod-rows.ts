import type { PodSpec } from '../../../deploy/local/kubelet/api/objects.ts';
import { UNTIL_STOPPED, VALKEY, shell, terminated, waits } from './cluster.ts';

/** A pod and what must come of it. */
export interface Row {
  readonly name: string;
  readonly spec: Partial<PodSpec>;
  /** The status that must follow, sooner or later. */
  readonly expected: object;
  /** An event that must come. */
  readonly event?: readonly [reason: string, message: RegExp];
}

const never = { restartPolicy: 'Never' } as const;
const say = 'cat > /dev/termination-log';

/** A web server in the one scripting language that every Debian has. */
const web = `exec perl -MIO::Socket::INET -e '
  my $s = IO::Socket::INET->new(LocalAddr => "$ENV{POD_IP}:8080", Listen => 5, ReuseAddr => 1) or die;
  while (my $c = $s->accept) { my $l = <$c>; my $code = $l =~ m{/healthy} ? 200 : 500;
    print $c "HTTP/1.1 $code X\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n"; close $c }'`;
const podIP = { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };
const webPorts = [{ name: 'web', containerPort: 8080 }];
const everySecond = { periodSeconds: 1 };
/** The status of a pod whose main container runs. */
export const ready = (phase: string, value: boolean): object => ({
  status: { phase, containerStatuses: [{ ready: value, state: { running: {} } }] },
});

/** The pods by name: each class of behaviour once. */
export const rows: Readonly<Record<string, Row>> = {
  env: {
    name: 'gives variables from every source, in the order of the spec',
    spec: {
      ...never,
      containers: [
        shell(`echo "$A $B $C $D $E $F $HOSTNAME" | ${say}`, {
          envFrom: [{ prefix: 'X_', configMapRef: { name: 'conf' } }],
          env: [
            { name: 'A', value: '$(X_color)-ish' },
            { name: 'B', valueFrom: { configMapKeyRef: { name: 'conf', key: 'color' } } },
            { name: 'C', valueFrom: { secretKeyRef: { name: 'keys', key: 'password' } } },
            { name: 'D', valueFrom: { fieldRef: { fieldPath: "metadata.labels['row']" } } },
            { name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
            { name: 'F', valueFrom: { configMapKeyRef: { name: 'none', key: 'x', optional: true } } },
          ],
          resources: { limits: { memory: '64Mi' } },
        }),
      ],
    },
    expected: terminated({ exitCode: 0, message: 'blue-ish blue s3cret env 64  env\n' }),
  },
  words: {
    name: 'expands variables in command and arguments, and starts in the working directory',
    spec: {
      ...never,
      containers: [
        {
          ...shell(`echo "$1 $2 $(pwd)" | ${say}`, { workingDir: '/var/lib/app' }),
          args: ['sh', '$(A)', '$$(A)'],
          env: [{ name: 'A', value: 'x' }],
        },
      ],
    },
    expected: terminated({ exitCode: 0, message: 'x $(A) /var/lib/app\n' }),
  },
  volumes: {
    name: 'mounts ConfigMap, Secret, downward API, token, parts of volumes, read-only and writable',
    spec: {
      ...never,
      containers: [
        shell(
          `{ cat /etc/app/color /keys/password /info/name; test -s /run/secrets/token && echo " token";
             cat /usr/local/etc/one; echo x > /keys/new || echo refused; echo y > /scratch/new && cat /scratch/new; } 2>/dev/null | ${say}`,
          {
            volumeMounts: [
              { name: 'conf', mountPath: '/etc/app' },
              { name: 'conf', mountPath: '/usr/local/etc/one', subPath: 'color' },
              { name: 'keys', mountPath: '/keys' },
              { name: 'info', mountPath: '/info' },
              { name: 'token', mountPath: '/run/secrets' },
              { name: 'scratch', mountPath: '/scratch', subPath: 'deep/down' },
            ],
          },
        ),
      ],
      volumes: [
        { name: 'conf', configMap: { name: 'conf' } },
        { name: 'keys', secret: { secretName: 'keys' } },
        {
          name: 'info',
          downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] },
        },
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
        { name: 'scratch', emptyDir: {} },
      ],
    },
    expected: terminated({ exitCode: 0, message: 'blues3cretvolumes token\nbluerefused\ny\n' }),
  },
  init: {
    name: 'runs init containers in order before the main one',
    spec: {
      ...never,
      initContainers: ['one', 'two'].map((name) =>
        shell(`echo ${name} >> /shared/order`, {
          name,
          volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
        }),
      ),
      containers: [
        shell(`cat /shared/order | ${say}`, {
          volumeMounts: [{ name: 'shared', mountPath: '/shared', readOnly: true }],
        }),
      ],
      volumes: [{ name: 'shared', emptyDir: {} }],
    },
    expected: {
      status: {
        phase: 'Succeeded',
        initContainerStatuses: [{ ready: true, state: { terminated: { exitCode: 0 } } }, { ready: true }],
        containerStatuses: [{ state: { terminated: { message: 'one\ntwo\n' } } }],
      },
    },
  },
  'init-fails': {
    name: 'fails a pod whose init container fails, without ever starting the main one',
    spec: { ...never, initContainers: [shell('exit 4', { name: 'init' })], containers: [shell('true')] },
    expected: {
      status: {
        phase: 'Failed',
        initContainerStatuses: [{ state: { terminated: { exitCode: 4, reason: 'Error' } } }],
        containerStatuses: [{ restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } }],
      },
    },
  },
  sidecar: {
    name: 'starts a sidecar before the main container and stops it after',
    spec: {
      ...never,
      initContainers: [
        shell(`touch /tmp/up; ${UNTIL_STOPPED}`, {
          name: 'side',
          restartPolicy: 'Always',
          startupProbe: { exec: { command: ['test', '-f', '/tmp/up'] }, ...everySecond },
        }),
      ],
      containers: [shell('exit 0')],
    },
    expected: {
      status: {
        phase: 'Succeeded',
        initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
        containerStatuses: [{ state: { terminated: { reason: 'Completed' } } }],
      },
    },
  },
  'exit-code': {
    name: 'reports the exit code, and the end of the log where the pod asks for it',
    spec: {
      ...never,
      containers: [shell('echo last words; exit 3', { terminationMessagePolicy: 'FallbackToLogsOnError' })],
    },
    expected: {
      status: { phase: 'Failed', ...mainEnded({ exitCode: 3, reason: 'Error', message: 'last words\n' }) },
    },
  },
  'no-program': {
    name: 'reports a program that does not exist',
    spec: { ...never, containers: [shell('', { command: ['no-such-program'] })] },
    expected: { status: { phase: 'Failed', ...mainEnded({ exitCode: 128, reason: 'StartError' }) } },
  },
  'on-failure': {
    name: 'repeats a failed container under OnFailure until it succeeds',
    spec: {
      restartPolicy: 'OnFailure',
      containers: [
        shell('test -f /s/again || { touch /s/again; exit 1; }', {
          volumeMounts: [{ name: 's', mountPath: '/s' }],
        }),
      ],
      volumes: [{ name: 's', emptyDir: {} }],
    },
    expected: {
      status: {
        phase: 'Succeeded',
        containerStatuses: [
          {
            restartCount: 1,
            state: { terminated: { exitCode: 0 } },
            lastState: { terminated: { exitCode: 1 } },
          },
        ],
      },
    },
  },
  crash: {
    name: 'holds a container back that crashes again and again',
    spec: { containers: [shell('exit 1')] },
    expected: {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { exitCode: 1 } },
          },
        ],
      },
    },
    event: ['BackOff', /Back-off restarting failed container/],
  },
  'no-image': {
    name: 'waits for an image that is not in the catalogue',
    spec: { containers: [{ name: 'main', image: 'nobody/nothing:1' }] },
    expected: waits('ImagePullBackOff'),
    event: ['Failed', /Failed to pull image "nobody\/nothing:1"/],
  },
  'no-variable': {
    name: 'waits for a ConfigMap that a variable needs',
    spec: {
      containers: [
        shell(UNTIL_STOPPED, {
          env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'late', key: 'a' } } }],
        }),
      ],
    },
    expected: waits('CreateContainerConfigError', { message: 'configmap "late" not found' }),
  },
  'no-volume': {
    name: 'waits for a Secret and a claim that volumes need',
    spec: {
      containers: [shell(UNTIL_STOPPED, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
      volumes: [{ name: 'v', secret: { secretName: 'late' } }],
    },
    expected: waits('ContainerCreating'),
    event: ['FailedMount', /secret "late" not found/],
  },
  tcp: {
    name: 'is ready when a port answers',
    spec: {
      containers: [
        {
          name: 'main',
          image: VALKEY,
          command: ['valkey-server', '--bind', '$(POD_IP)', '--protected-mode', 'no'],
          env: [podIP],
          ports: [{ name: 'db', containerPort: 6379 }],
          readinessProbe: { tcpSocket: { port: 'db' }, ...everySecond },
        },
      ],
    },
    expected: ready('Running', true),
  },
  http: {
    name: 'is ready when a page answers',
    spec: {
      containers: [
        shell(web, {
          env: [podIP],
          ports: webPorts,
          readinessProbe: { httpGet: { path: '/healthy', port: 'web' }, ...everySecond },
        }),
      ],
    },
    expected: ready('Running', true),
  },
  'http-fails': {
    name: 'is not ready while a page answers with an error',
    spec: {
      containers: [
        shell(web, {
          env: [podIP],
          readinessProbe: { httpGet: { path: '/ill', port: 8080 }, ...everySecond },
        }),
      ],
    },
    expected: ready('Running', false),
    event: ['Unhealthy', /Readiness probe failed: HTTP probe failed with statuscode: 500/],
  },
  liveness: {
    name: 'restarts a container that its liveness probe gives up',
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        shell(UNTIL_STOPPED, {
          livenessProbe: { exec: { command: ['false'] }, failureThreshold: 2, ...everySecond },
        }),
      ],
    },
    expected: {
      status: { containerStatuses: [{ lastState: { terminated: { exitCode: 0 } } }] },
    },
    event: ['Killing', /Container main failed liveness probe, will be restarted/],
  },
  startup: {
    name: 'restarts a container that never starts up',
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        shell(UNTIL_STOPPED, {
          startupProbe: { exec: { command: ['false'] }, failureThreshold: 2, ...everySecond },
          readinessProbe: { exec: { command: ['true'] } },
        }),
      ],
    },
    expected: {
      status: {
        containerStatuses: [{ ready: false, started: false, lastState: { terminated: { exitCode: 0 } } }],
      },
    },
  },
  'post-start': {
    name: 'kills a container whose postStart hook fails',
    spec: {
      ...never,
      containers: [shell(UNTIL_STOPPED, { lifecycle: { postStart: { exec: { command: ['false'] } } } })],
    },
    expected: terminated({ exitCode: 0 }),
    event: ['FailedPostStartHook', /PostStartHook failed/],
  },
  deadline: {
    name: 'fails a pod that is past its deadline',
    spec: { activeDeadlineSeconds: 5, containers: [shell(UNTIL_STOPPED)] },
    expected: { status: { phase: 'Failed', reason: 'DeadlineExceeded', ...mainEnded({ exitCode: 0 }) } },
  },
  memory: {
    name: 'refuses memory far beyond the limit',
    spec: {
      ...never,
      containers: [
        shell(`exec perl -e 'my $x = "x" x 600000000; print length $x'`, {
          resources: { limits: { memory: '64Mi' } },
        }),
      ],
    },
    expected: {
      status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { reason: 'Error' } } }] },
    },
  },
  user: {
    name: 'runs as the user that the pod asks for',
    spec: { ...never, securityContext: { runAsUser: 999 }, containers: [shell(`id -u | ${say}`)] },
    expected: terminated({ exitCode: 0, message: '999\n' }),
  },
};

function mainEnded(state: object): object {
  return { containerStatuses: [{ state: { terminated: state } }] };
}
