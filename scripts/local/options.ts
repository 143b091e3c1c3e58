/**
 * What programs of this folder and its neighbours share about their command lines.
 */

/** An error in the command line. */
export class UsageError extends Error {}

export function wholeNumber(text: string, name: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new UsageError(`${name} takes a whole number from ${min} to ${max}, got '${text}'`)
  return value
}
