import { parseQuantity } from '../../../../workflows/shared/quantity.ts';

/** The number that a quantity of a pod stands for; the API server has refused what is none. */
export function numberOf(quantity: string | number): number {
  const value = parseQuantity(String(quantity));
  if (value === null) throw new Error(`${quantity} is not a quantity`);
  return value;
}

/** A quantity in units of the divisor, rounded up, as the downward API shows it. */
export function divideQuantity(quantity: string | number, divisor: string | undefined): string {
  const unit = divisor === undefined || divisor === '0' ? 1 : numberOf(divisor);
  // Decimal fractions such as 0.1 are not exact in binary; without this, 100m in units of 1m would be 101.
  return String(Math.ceil(Number((numberOf(quantity) / unit).toPrecision(15))));
}
