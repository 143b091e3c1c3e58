/**
 * Loaded into a process before everything else, it skews its wall clock: Date is off by the milliseconds in the file named by
 * HOLDFAST_SKEW_FILE. The monotonic clock and timers are unchanged.
 */
import { readFileSync } from 'node:fs'

const RealDate = Date
const file = process.env['HOLDFAST_SKEW_FILE'] ?? ''
const LOOK_EVERY_MS = 20

function skewInFile(): number {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    // The file is not written yet.
    return 0
  }
}

if (file !== '') {
  let skewMs = skewInFile()
  setInterval(() => (skewMs = skewInFile()), LOOK_EVERY_MS).unref()
  const now = (): number => RealDate.now() + skewMs
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, [first, ...rest]: [number?, ...number[]]) =>
      first === undefined ? new target(now()) : Reflect.construct(target, [first, ...rest]),
    get: (target, name): unknown => (name === 'now' ? now : Reflect.get(target, name, target)),
  })
}
