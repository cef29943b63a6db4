/** Input that no plan can be made of, with the rule and the numbers. */
export class RefusedInput extends Error {
  override readonly name = 'RefusedInput';
}
