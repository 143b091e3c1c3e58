/**
 * Whether the thresholds of the disk are in order: what is refused later needs a fuller disk.
 *
 * Owns: the check of the six settings with each other. Knows nothing of: disks, and of the bounds of each setting alone.
 */
import { FaultError } from './config-fault.ts'
import type { Config } from './types.ts'

/** As it is written in the file, with at most three decimals. */
const percentOf = (share: number): string => `${Math.round(share * 100_000) / 1000}%`

export function checkDisk({ stopPlacing, stopWriting, reserve }: Config['disk']): void {
  const inOrder = [
    ['disk.stop_placing', stopPlacing],
    ['disk.stop_writing', stopWriting],
    ['disk.reserve', reserve],
  ] as const
  inOrder.forEach(([name, { usedShare, freeBytes }], n) => {
    const [nextName, next] = inOrder[n + 1] ?? []
    if (next === undefined) return
    if (usedShare > next.usedShare)
      throw new FaultError(
        `${name} (${percentOf(usedShare)}) is above ${nextName} (${percentOf(next.usedShare)})`,
        `Values must not decrease in this order: ${inOrder.map(([each]) => each).join(', ')}.`,
      )
    if (freeBytes < next.freeBytes)
      throw new FaultError(
        `${name}_free (${freeBytes} bytes) is less than ${nextName}_free (${next.freeBytes} bytes)`,
        `Values must not rise in this order: ${inOrder.map(([each]) => `${each}_free`).join(', ')}.`,
      )
  })
}
