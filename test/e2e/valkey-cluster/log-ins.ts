import type { ClusterWorld } from '../../valkey/cluster-world.ts';
import { connect, ipOf } from '../../valkey/server-view.ts';

/** The trigger service hears of a Secret at once; found by drift alone it would take ten minutes. */
export const WITHIN_SECONDS = 60;

/** What each server answers to a user who logs in: `OK` or the refusal. */
export const logIn = async (
  world: ClusterWorld,
  user: string,
  password: string,
): Promise<readonly string[]> =>
  Promise.all(
    (await world.list('pods')).map(async (pod) => {
      const client = connect(world, ipOf(pod) ?? '');
      try {
        await client.connect();
        return await client.call('AUTH', user, password).then(String, (error: Error) => error.message);
      } finally {
        client.disconnect();
      }
    }),
  );

/** Waits until all six servers answer so. */
export const awaitLogIn = (
  world: ClusterWorld,
  user: string,
  password: string,
  words: RegExp,
): Promise<boolean> =>
  world.until(async () => {
    const answers = await logIn(world, user, password);
    return answers.length === 6 && answers.every((answer) => words.test(answer))
      ? { found: true }
      : { missing: `all servers to answer ${user} with ${words.source}, not ${answers.join(', ')}` };
  }, WITHIN_SECONDS);

/** The pods by their uids: the same ones as long as none was restarted. */
export const podUids = async (world: ClusterWorld): Promise<ReadonlySet<string | undefined>> =>
  new Set((await world.list('pods')).map((pod) => pod.metadata.uid));
