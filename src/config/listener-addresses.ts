/**
 * Whether the listeners of a node can be open side by side.
 *
 * Owns: which two addresses the system does not give out together. Knows nothing of: other programs, which only a start meets.
 */
import { FaultError } from './config-fault.ts'
import type { Config } from './types.ts'

/** Each takes its port at every address of the machine. */
const EVERY_ADDRESS = ['0.0.0.0', '[::]']

/** Throws FaultError. */
export function checkListeners(listeners: Pick<Config['listeners'], 'data' | 'admin' | 'peer'>): void {
  const all = (['data', 'admin', 'peer'] as const).map((name) => ({ name, ...partsOf(listeners[name]) }))
  for (const [n, one] of all.entries())
    for (const other of all.slice(n + 1)) {
      if (!collide(one, other)) continue
      throw new FaultError(
        `listeners.${one.name} (${listeners[one.name]}) and listeners.${other.name} (${listeners[other.name]}) use the same port of the same address`,
        `Give each listener a port of its own, for example listeners.${other.name}: ${other.host}:${one.port + 1}.`,
      )
    }
}

interface Parts {
  readonly host: string
  readonly port: number
}

function partsOf(address: string): Parts {
  const colon = address.lastIndexOf(':')
  return { host: address.slice(0, colon).toLowerCase(), port: Number(address.slice(colon + 1)) }
}

/** Port 0: the system picks a free one. */
function collide(one: Parts, other: Parts): boolean {
  if (one.port === 0 || one.port !== other.port) return false
  return one.host === other.host || [one, other].some(({ host }) => EVERY_ADDRESS.includes(host))
}
