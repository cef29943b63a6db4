/** A request that is answered with an error: its status, a code for programs and words for people. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
  }
}

/** The answer for an agent that does not exist, and for one of another client: nobody learns which of the two it is. */
export const noSuchAgent = (): Refusal => new Refusal(404, 'NOT_FOUND', 'there is no such agent');

/** The answer to an instance that acts on an epoch that is over. */
export const notPrimary = (epoch: number): Refusal =>
  new Refusal(409, 'NOT_PRIMARY', `you are no longer primary: the epoch is ${epoch}`);
