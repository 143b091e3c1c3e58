/**
 * Asks a peer once whether it would accept requests of this node, and sends only the name of this node.
 *
 * Owns: one request outside of every pool. Knows nothing of: time; the caller measures it and provides the signal that ends it.
 * Rule: a probe claims no incarnation and no status, so the peer learns nothing from it. A peer that would accept requests of this
 * node refuses the probe at the check of these claims in `checkIdentity`; any other peer refuses it at an earlier check.
 */
import { type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import type { NodeId } from '../raft/types.ts'
import type { PeerAddress, TlsFiles } from '../base/types.ts'
import { MalformedFrameError } from './frame.ts'
import { IncomingBody } from './incoming-body.ts'
import { parsePeerAddress } from './peer-address.ts'
import { PATH_PREFIX, PROTOCOL_VERSION } from './peer-identity.ts'
import { PeerTls } from './peer-tls.ts'

export interface PeerProbeOptions {
  readonly clusterId: string
  readonly from: NodeId
  readonly to: NodeId
  readonly address: PeerAddress
  readonly tls: TlsFiles | null
  readonly signal: AbortSignal
}

export interface PeerProbe {
  /** `foreign`: the server at that address is not a node. */
  readonly outcome: 'accepted' | 'refused' | 'foreign' | 'unreachable'
  /** The code of the refusal or of the failure, e.g. ECONNREFUSED; empty when accepted. */
  readonly code: string
  readonly message: string
  /** The header `Date` of the answer. */
  readonly date: string | null
}

/** Never rejects because of a peer. Throws StartError when the files of `tls` cannot be used. */
export async function probePeer(options: PeerProbeOptions): Promise<PeerProbe> {
  const tls = options.tls === null ? null : clientTlsOf(options, options.tls)
  let answer: IncomingMessage
  try {
    answer = await ask(options, tls)
  } catch (cause) {
    return { outcome: 'unreachable', ...describe(cause), date: null }
  }
  const date = answer.headers.date ?? null
  try {
    return { ...(await readVerdict(answer)), date }
  } catch (cause) {
    return { outcome: 'foreign', ...describe(cause), date }
  } finally {
    answer.destroy()
  }
}

type ClientTls = ReturnType<PeerTls['client']>

function clientTlsOf({ clusterId, from, to }: PeerProbeOptions, files: TlsFiles): ClientTls {
  return new PeerTls(files, { clusterId, nodeId: from }).client(to)
}

function ask({ clusterId, from, to, address, signal }: PeerProbeOptions, tls: ClientTls | null) {
  const { host, port } = parsePeerAddress(address)
  const headers = {
    'content-length': '0',
    'x-holdfast-protocol': PROTOCOL_VERSION,
    'x-holdfast-cluster': clusterId,
    'x-holdfast-from': from,
    'x-holdfast-to': to,
  }
  const plain = { host, port, method: 'POST', path: `${PATH_PREFIX}probe`, headers, signal, agent: false }
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = tls === null ? request(plain, resolve) : requestTls({ ...plain, ...tls }, resolve)
    outgoing.on('error', reject)
    outgoing.end()
  })
}

async function readVerdict(answer: IncomingMessage): Promise<Omit<PeerProbe, 'date'>> {
  const body = new IncomingBody({
    chunks: answer,
    onBytes: () => {},
    blame: (cause) => new Error('the answer breaks off', { cause }),
    release: () => {},
  })
  const { code, message } = ((await body.readHeader()) ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code !== 'string' || typeof message !== 'string')
    throw new MalformedFrameError('The refusal names no code')
  // The peer has accepted cluster, names, membership and certificate before it missed the claims that a probe omits.
  if (code === 'malformed_request') return { outcome: 'accepted', code: '', message: '' }
  return { outcome: 'refused', code, message }
}

function describe(cause: unknown): { readonly code: string; readonly message: string } {
  if (!(cause instanceof Error)) return { code: 'unknown', message: String(cause) }
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name
  return { code, message: cause.message || code }
}
