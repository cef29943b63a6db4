/** A refusal by the API server, with its code and its reason. */
export class KubernetesRefusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'KubernetesRefusal';
    this.status = status;
    this.reason = reason;
  }
}

/** Whether an error is a refusal with one of these codes. */
export const isRefusal = (error: unknown, ...statuses: readonly number[]): error is KubernetesRefusal =>
  error instanceof KubernetesRefusal && statuses.includes(error.status);

/** The refusal in a `Status` object, or in whatever else was answered. */
export function refusalOf(status: number, body: unknown): KubernetesRefusal {
  if (typeof body !== 'object' || body === null)
    return new KubernetesRefusal(status, '', `HTTP ${status}: ${String(body).slice(0, 200)}`);
  const reason: unknown = Reflect.get(body, 'reason');
  const message: unknown = Reflect.get(body, 'message');
  return new KubernetesRefusal(
    status,
    typeof reason === 'string' ? reason : '',
    typeof message === 'string' ? message : `HTTP ${status}`,
  );
}
