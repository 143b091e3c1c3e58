/**
 * What the two public listeners of a node stand on: a certificate each, one account of the clients that have proved nothing, and one of
 * those that are refused too often.
 */
import type { MetricSample } from '../../../cluster/index.ts'
import type { Config, ListenerTlsFiles } from '../../config/types.ts'
import { HeldRefusals } from '../admission/held-refusals.ts'
import { UnprovedCallers } from '../admission/unproved-callers.ts'
import { type Edge, PLAIN_EDGE } from '../edge.ts'
import { EdgeThreads } from '../edge-threads/edge-threads.ts'
import { ListenerTls, SYSTEM_TIME } from '../listener-tls.ts'

interface PublicEdges {
  readonly admin: Edge
  readonly data: Edge
  readonly samples: () => readonly MetricSample[]
}

/** Throws StartError. */
export function publicEdges({ node, adminTls, dataTls, limits }: Config): PublicEdges {
  const unproved = new UnprovedCallers(limits, PLAIN_EDGE.now)
  const after = (ms: number, callback: () => void) => SYSTEM_TIME.after(ms, callback)
  const refusals = new HeldRefusals({ now: PLAIN_EDGE.now, after })
  const edgeOf = (listener: 'data' | 'admin', files: ListenerTlsFiles | null): Edge => {
    const tls = files === null ? null : new ListenerTls(listener, files)
    return { ...PLAIN_EDGE, unproved, refusals, tls }
  }
  const threads = node.edgeThreads === 0 ? null : new EdgeThreads(node.edgeThreads)
  const data = { ...edgeOf('data', dataTls), ...(threads === null ? {} : { threads: threads.open }) }
  const admin = edgeOf('admin', adminTls)
  const certificates = (): readonly MetricSample[] =>
    [data.tls, admin.tls].flatMap((tls) => tls?.samples() ?? [])
  const samples = (): readonly MetricSample[] =>
    [unproved.samples(), refusals.samples(), certificates(), threads?.samples() ?? []].flat()
  return { admin, data, samples }
}
