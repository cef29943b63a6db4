const factors: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
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

/** The number that a Kubernetes quantity such as `100m` or `64Mi` stands for. */
export function parseQuantity(quantity: string | number): number {
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(quantity));
  const factor = factors[match?.[2] ?? ''];
  const value = Number(match?.[1]);
  if (factor === undefined || Number.isNaN(value)) throw new Error(`${quantity} is not a quantity`);
  return value * factor;
}

/** A quantity in units of the divisor, rounded up, as the downward API shows it. */
export function divideQuantity(quantity: string | number, divisor: string | undefined): string {
  const unit = divisor === undefined || divisor === '0' ? 1 : parseQuantity(divisor);
  // Decimal fractions such as 0.1 are not exact in binary; without this, 100m in units of 1m would be 101.
  return String(Math.ceil(Number((parseQuantity(quantity) / unit).toPrecision(15))));
}
