import { expect, test } from 'vitest';
import { openHome, pathOf } from '../../../deploy/local/home.ts';
import { KubernetesApi } from '../../../deploy/local/kubernetes/api.ts';
import { findMarked } from '../../../deploy/local/marks.ts';
import { readCommandLine, signal } from '../../../deploy/local/process-table.ts';
import type { ProcessIdentity } from '../../../deploy/local/process-table.ts';
import { silentProgress } from '../../../deploy/local/progress.ts';
import { findSupervisor } from '../../../deploy/local/start.ts';
import { stopStack } from '../../../deploy/local/stop.ts';
import { startTestStack } from '../../../deploy/local/testing.ts';

const PARTS = ['kube-controller-manager', 'kube-scheduler', 'nodes'];

test('leaves no pod running, even when the nodes and the supervisor were killed before', async () => {
  const stack = await startTestStack({ onlyParts: PARTS });
  const home = openHome(stack.home);
  try {
    const api = new KubernetesApi(pathOf.kubeconfig(home, 'admin'));
    const sleeper = { name: 'sleeper', image: 'keelson/shell:1', command: ['sleep', '34567'] };
    await expect
      .poll(() => createPod(api, { metadata: { name: 'sleeper' }, spec: { containers: [sleeper] } }), {
        timeout: 30_000,
      })
      .toBe('created');
    await expect.poll(() => findSleepers(stack.home), { timeout: 60_000 }).not.toEqual([]);
    api.close();
    const supervisor = findSupervisor(home);
    if (supervisor === undefined) throw new Error('nobody looks after the stack');
    signal(supervisor, 'SIGKILL');
    await stack.part('nodes').kill();
    expect(findSleepers(stack.home)).not.toEqual([]);
    await stopStack(home, silentProgress);
    expect(findSleepers(stack.home)).toEqual([]);
    expect(findMarked(home)).toEqual([]);
  } finally {
    await stack.stop();
  }
});

/** The default ServiceAccount, which every pod needs, comes a moment after its namespace. */
async function createPod(api: KubernetesApi, pod: unknown): Promise<string> {
  try {
    await api.send('POST', '/api/v1/namespaces/default/pods', pod);
    return 'created';
  } catch (error) {
    return String(error);
  }
}

function findSleepers(directory: string): readonly ProcessIdentity[] {
  return findMarked(openHome(directory)).filter(
    ({ pid }) => readCommandLine(pid).join(' ') === 'sleep 34567',
  );
}
