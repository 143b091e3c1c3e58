/**
 * What the two public listeners of a node stand on: a certificate each, and one account of the clients that have proved nothing.
 */
import type { MetricSample } from '../../../cluster/index.ts'
import type { Config, ListenerTlsFiles } from '../../config/types.ts'
import { UnprovedCallers } from '../admission/unproved-callers.ts'
import { type Edge, PLAIN_EDGE } from '../edge.ts'
import { ListenerTls } from '../listener-tls.ts'

interface PublicEdges {
  readonly admin: Edge
  readonly data: Edge
  readonly samples: () => readonly MetricSample[]
}

/** Throws StartError. */
export function publicEdges({ adminTls, dataTls, limits }: Config): PublicEdges {
  const unproved = new UnprovedCallers(limits, PLAIN_EDGE.now)
  const edgeOf = (listener: 'data' | 'admin', files: ListenerTlsFiles | null): Edge => {
    const tls = files === null ? null : new ListenerTls(listener, files)
    return { ...PLAIN_EDGE, unproved, tls }
  }
  const data = edgeOf('data', dataTls)
  const admin = edgeOf('admin', adminTls)
  const certificates = (): readonly MetricSample[] =>
    [data.tls, admin.tls].flatMap((tls) => tls?.samples() ?? [])
  return { admin, data, samples: () => [...unproved.samples(), ...certificates()] }
}
