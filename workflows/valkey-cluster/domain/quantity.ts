const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity of memory, such as `1Gi`, in bytes; 0 when it is none. */
export function bytesOfQuantity(quantity: string): number {
  const match = /^([0-9]*\.?[0-9]+)([A-Za-z]*)$/.exec(quantity);
  const factor = FACTORS[match?.[2] ?? ''];
  return match === null || factor === undefined ? 0 : Math.floor(Number(match[1]) * factor);
}
