/**
 * While a simulation runs, real time, real chance and real input and output throw.
 *
 * Rule: set for the run of one seed, in one piece, and removed again in any case; nothing else runs meanwhile.
 */
import crypto from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'

type Place = readonly [owner: object, name: string]

const NAMES: readonly Place[] = [
  [Date, 'now'],
  [performance, 'now'],
  [Math, 'random'],
  [process, 'hrtime'],
  [globalThis, 'Date'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'fetch'].map((name): Place => [globalThis, name]),
  ...['setTimeout', 'setInterval', 'setImmediate'].map((name): Place => [timers, name]),
  ...['randomBytes', 'randomInt', 'randomUUID', 'randomFillSync'].map((name): Place => [crypto, name]),
  ...[
    'openSync',
    'readFileSync',
    'writeFileSync',
    'writeSync',
    'readSync',
    'open',
    'readFile',
    'writeFile',
    'stat',
  ].map((name): Place => [fs, name]),
]

/** Time and randomness of the service, answered by the virtual world instead. */
export interface Instead {
  readonly now: () => number
  readonly randomBytes: (size: number) => Buffer
}

/** Runs `work` with every trap set. */
export function trapped<T>(work: () => T, instead: Instead | null = null): T {
  const before = NAMES.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name))
  try {
    for (const [owner, name] of NAMES) set(owner, name)
    if (instead !== null) {
      Object.assign(Date, { now: instead.now })
      Object.assign(crypto, { randomBytes: instead.randomBytes })
    }
    syncBuiltinESMExports()
    return work()
  } finally {
    for (const [i, [owner, name]] of NAMES.entries()) {
      const descriptor = before[i]
      if (descriptor === undefined) Reflect.deleteProperty(owner, name)
      else Object.defineProperty(owner, name, descriptor)
    }
    syncBuiltinESMExports()
  }
}

function set(owner: object, name: string): void {
  const trap = function trap(): never {
    throw new Error(`'${name}' was called in a simulation, where only the virtual world counts`)
  }
  // `Date.now` uses the `Date` of that moment.
  Object.defineProperty(owner, name, {
    value: Object.assign(trap, { now: trap }),
    configurable: true,
    writable: true,
  })
}
