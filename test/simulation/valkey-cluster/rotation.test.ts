import { describe, expect, it } from 'vitest';
import { openStage as stage } from './stage.ts';
import type { ValkeyWorld } from './world.ts';

const auth = { secretRef: { name: 'cache-auth', key: 'password' } } as const;

const passwords = (world: ValkeyWorld): readonly string[] =>
  [...world.servers.values()].map((server) => server.passwords.join(' '));

const done = (world: ValkeyWorld): number =>
  world.events.filter((event) => event.startsWith('OperationDone: rotate')).length;

describe('a changed password', () => {
  it('is taken beside the old one, which goes when clients have had their time; the phase stays Running', async () => {
    const { world, hint, until, settles } = stage();
    hint(world.apply({ auth }));
    await settles('Running');
    expect(done(world)).toBe(0);
    world.phases.length = 0;
    world.secrets.password = 'second';
    hint(world.hint());
    await until('all take both', () => passwords(world).every((words) => words === 'second first'));
    const waits = () => world.resource?.conditions.find(({ type }) => type === 'Progressing')?.message ?? '';
    await until('it says that the old one is still valid', () => /stays valid/.test(waits()));
    expect(world.resource?.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
    await until('the old one is refused', () => passwords(world).every((words) => words === 'second'));
    await settles('Running');
    expect(world.phases.every((phase) => phase === 'Running')).toBe(true);
  });

  it('does not keep a lost pod from coming back while the old one is still valid', async () => {
    const { world, engine, hint, until, settles } = stage();
    hint(world.apply({ auth }));
    await settles('Running');
    world.secrets.password = 'second';
    hint(world.hint());
    await until('all take both', () => done(world) === 1);
    const [first] = world.pods;
    if (first !== undefined) world.remove('Pod', first.name, first.uid, engine.agenda.nowMs);
    hint(world.hint());
    await until('it was healed', () => world.events.some((event) => event.startsWith('OperationDone: heal')));
    expect(passwords(world).some((words) => words.includes('first'))).toBe(true);
    await until('the old one is refused', () => passwords(world).every((words) => words === 'second'));
  });

  it('that changes once more meanwhile leaves only the newest valid in the end', async () => {
    const { world, hint, until, settles } = stage();
    hint(world.apply({ auth }));
    await settles('Running');
    for (const word of ['second', 'third', 'second']) {
      world.secrets.password = word;
      hint(world.hint());
      await until(`all take ${word}`, () => passwords(world).every((words) => words.startsWith(word)));
    }
    await until('no other is valid', () => passwords(world).every((words) => words === 'second'));
    expect(new Set(passwords(world))).toEqual(new Set(['second']));
  });

  it.each(['first', 'second', 'third'])(
    'is rotated whatever the worker suffers, the %s time too',
    async (seed) => {
      const { world, engine, hint, until, settles } = stage({
        seed,
        faults: { lostAnswer: 0.2, frozen: 0.1, slow: 0.1 },
      });
      hint(world.apply({ auth }));
      await settles('Running');
      world.secrets.password = 'second';
      hint(world.hint());
      await engine.until(() => false, 300);
      await engine.crash(300);
      await until('only the new one is valid', () => passwords(world).every((words) => words === 'second'));
      expect(engine.journal.violations).toEqual([]);
    },
  );
});
