import { Behaviour } from './behaviour.ts';
import {
  errorXml,
  escapeXml,
  fingerprint,
  instanceIdsIn,
  listOf,
  queryLike,
  withoutReservations,
  type Ec2Query,
} from './query.ts';

/** An answer to one request. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Hears what becomes of instances. */
export interface Witness {
  launched(instanceId: string, query: Ec2Query): void;
  ended(instanceId: string, query: Ec2Query): void;
}

/** What stands behind: moto, or whatever else speaks EC2. */
export type Upstream = (query: Ec2Query) => Promise<Answer>;

const TOKEN_MS = 24 * 3_600_000;

/** EC2 with what its emulator lacks: client tokens, capacity, a moment before a launch is known, prices that move. */
export class Emulator {
  readonly behaviour = new Behaviour();
  readonly #upstream: Upstream;
  readonly #launches = new Map<
    string,
    { readonly asked: string; readonly answer: Promise<Answer>; readonly atMs: number }
  >();
  readonly #launchedAtMs = new Map<string, number>();
  readonly #ended = new Set<string>();

  readonly #witness: Witness;

  constructor(upstream: Upstream, witness: Witness) {
    this.#upstream = upstream;
    this.#witness = witness;
  }

  async answer(query: Ec2Query): Promise<Answer> {
    if (this.behaviour.takeOutage(query.action))
      return refused(503, 'Unavailable', 'an outage was asked for');
    switch (query.action) {
      case 'RunInstances':
        return this.#run(query);
      case 'DescribeInstances':
        return this.#describe(query);
      case 'DescribeSpotPriceHistory':
        return this.#prices(query);
      case 'TerminateInstances':
        return this.#terminate(query);
      default:
        return this.#upstream(query);
    }
  }

  /** The same token with the same parameters is the same launch, for as long as EC2 remembers tokens. */
  async #run(query: Ec2Query): Promise<Answer> {
    const token = query.parameters['ClientToken'];
    if (token === undefined) return this.#launch(query);
    const before = this.#launches.get(token);
    if (before !== undefined && Date.now() - before.atMs < TOKEN_MS) {
      if (before.asked === fingerprint(query)) return before.answer;
      return refused(400, 'IdempotentParameterMismatch', `the token ${token} was used for another launch`);
    }
    const answer = this.#launch(query);
    this.#launches.set(token, { asked: fingerprint(query), answer, atMs: Date.now() });
    // A launch that was refused leaves its token free.
    const { status } = await answer;
    if (status !== 200) this.#launches.delete(token);
    return answer;
  }

  async #launch(query: Ec2Query): Promise<Answer> {
    const type = query.parameters['InstanceType'] ?? '';
    const zone = query.parameters['Placement.AvailabilityZone'] ?? '';
    const spot = query.parameters['InstanceMarketOptions.MarketType'] === 'spot';
    const code = spot ? this.behaviour.refusal(type, zone) : null;
    if (code !== null)
      return refused(
        code === 'InsufficientInstanceCapacity' ? 500 : 400,
        code,
        `no capacity for ${type} in ${zone}`,
      );
    const answer = await this.#upstream(query);
    if (answer.status === 200)
      for (const id of instanceIdsIn(answer.body)) {
        this.#launchedAtMs.set(id, Date.now());
        this.#witness.launched(id, query);
      }
    return answer;
  }

  async #describe(query: Ec2Query): Promise<Answer> {
    const unseen = this.#unseen();
    const asked = listOf(query, 'InstanceId').find((id) => unseen.has(id));
    if (asked !== undefined)
      return refused(400, 'InvalidInstanceID.NotFound', `The instance ID '${asked}' does not exist`);
    const answer = await this.#upstream(query);
    return unseen.size === 0 ? answer : { ...answer, body: withoutReservations(answer.body, unseen) };
  }

  async #terminate(query: Ec2Query): Promise<Answer> {
    const answer = await this.#upstream(query);
    if (answer.status === 200)
      for (const id of listOf(query, 'InstanceId').filter((one) => !this.#ended.has(one))) {
        this.#ended.add(id);
        this.#witness.ended(id, query);
      }
    return answer;
  }

  #unseen(): ReadonlySet<string> {
    const { unseenMs } = this.behaviour;
    const young = [...this.#launchedAtMs].filter(([, atMs]) => Date.now() - atMs < unseenMs);
    return new Set(young.map(([id]) => id));
  }

  async #prices(query: Ec2Query): Promise<Answer> {
    const nowMs = Date.now();
    const zones = await this.#zones(query);
    const items = listOf(query, 'InstanceType').flatMap((type) =>
      zones.map(
        (zone) =>
          `<item><instanceType>${escapeXml(type)}</instanceType><productDescription>Linux/UNIX</productDescription>` +
          `<spotPrice>${this.behaviour.price(type, zone, nowMs)}</spotPrice>` +
          `<timestamp>${new Date(nowMs).toISOString()}</timestamp><availabilityZone>${zone}</availabilityZone></item>`,
      ),
    );
    return {
      status: 200,
      body: `<?xml version="1.0" encoding="UTF-8"?>\n<DescribeSpotPriceHistoryResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>keelson</requestId><spotPriceHistorySet>${items.join('')}</spotPriceHistorySet><nextToken/></DescribeSpotPriceHistoryResponse>`,
    };
  }

  async #zones(query: Ec2Query): Promise<readonly string[]> {
    const { body } = await this.#upstream(queryLike(query, 'DescribeAvailabilityZones'));
    return [...body.matchAll(/<zoneName>([^<]+)<\/zoneName>/g)].map((match) => match[1] ?? '');
  }
}

const refused = (status: number, code: string, message: string): Answer => ({
  status,
  body: errorXml(code, message),
});
