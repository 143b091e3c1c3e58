/**
 * Which public listeners serve other machines over plain HTTP, and whether the operator said that this is meant.
 *
 * Owns: the rule. Tokens, secrets and contents can be read and changed on the way to such a listener, so a start refuses it without
 * `listeners.data_plain` or `listeners.admin_plain`; the doctor warns of it either way.
 */
import { isLoopbackAddress } from '../../cluster/index.ts'
import type { Config } from './types.ts'

export interface PlainListener {
  readonly listener: 'data' | 'admin'
  /** host:port, not loopback. */
  readonly address: string
  /** Whether `listeners.<listener>_plain` is true. */
  readonly isAllowed: boolean
}

export function plainListeners({ listeners, dataTls, adminTls }: Config): readonly PlainListener[] {
  const { data, admin, dataPlain, adminPlain } = listeners
  const all = [
    { listener: 'data', address: data, tls: dataTls, isAllowed: dataPlain },
    { listener: 'admin', address: admin, tls: adminTls, isAllowed: adminPlain },
  ] as const
  return all
    .filter(({ address, tls }) => tls === null && !isLoopbackAddress(address))
    .map(({ listener, address, isAllowed }) => ({ listener, address, isAllowed }))
}

/** What makes the listener acceptable, one sentence. */
export const plainListenerHint = (listener: PlainListener['listener']): string =>
  `Set ${listener}_tls.cert and ${listener}_tls.key; or, if a proxy ends TLS or the network is private, listeners.${listener}_plain: true.`
