/**
 * Why a node did not answer, as a sentence for a person: refused, unknown name, TLS at a plain port and the reverse, certificates.
 *
 * Owns: the sentences. Knows nothing of: requests that were answered.
 * Rule: a connection that was closed may have met a port with TLS; only then is that port asked, with one handshake that sends nothing.
 */
import { connect } from 'node:tls'
import type { NoAnswerError } from '../../client/clients.ts'

export interface NoAnswer {
  readonly message: string
  readonly hint: string
}

const HANDSHAKE_MS_MAX = 2_000

/** Codes of a TLS client that receives something else than TLS. */
const NOT_TLS = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']
/** Codes of a connection that was closed without an answer. */
const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']
const UNKNOWN_AUTHORITY = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

/** Null: the port does not speak TLS, or was asked in TLS. */
export async function tlsInstead(error: NoAnswerError): Promise<NoAnswer | null> {
  const { endpoint } = error
  if (endpoint.startsWith('https:') || !codesIn(error).some((code) => CLOSED.includes(code))) return null
  if (!(await speaksTls(endpoint))) return null
  return {
    message: `${endpoint} speaks TLS, and was asked without it`,
    hint: `Write ${endpoint.replace(/^http:/, 'https:')}, and name the certificate authority with --ca-file or HOLDFAST_CA_FILE.`,
  }
}

export function noAnswer(error: NoAnswerError): NoAnswer {
  const codes = codesIn(error)
  const has = (those: readonly string[]): boolean => codes.some((code) => those.includes(code))
  const isTls = error.endpoint.startsWith('https:')
  if (isTls && (has(NOT_TLS) || /wrong version number|packet length too long/.test(textOf(error))))
    return {
      message: `${error.endpoint} does not speak TLS`,
      hint: `Write ${error.endpoint.replace(/^https:/, 'http:')}, if that network may see the bytes; otherwise configure TLS at the node.`,
    }
  return plainNoAnswer(error, codes, has)
}

function plainNoAnswer(
  error: NoAnswerError,
  codes: readonly string[],
  has: (those: readonly string[]) => boolean,
): NoAnswer {
  const { endpoint } = error
  if (has(['ECONNREFUSED']))
    return {
      message: `No node listens at ${endpoint} (ECONNREFUSED)`,
      hint: 'Is the node started, and is this the port of its API? --endpoint and --admin-endpoint take several addresses, separated by commas.',
    }
  if (has(['ENOTFOUND', 'EAI_AGAIN']))
    return {
      message: `The name in ${endpoint} is not known (${codes.join(', ')})`,
      hint: 'Check its spelling and the name servers of this machine.',
    }
  if (has(UNKNOWN_AUTHORITY))
    return {
      message: `The certificate of ${endpoint} is signed by an authority that this machine does not know`,
      hint: 'Name the ca.pem of the cluster with --ca-file or HOLDFAST_CA_FILE.',
    }
  if (has(['ERR_TLS_CERT_ALTNAME_INVALID']))
    return {
      message: `The certificate of ${endpoint} has another name`,
      hint: 'Use a name or address that its certificate has: holdfast certs show prints them.',
    }
  if (has(['CERT_HAS_EXPIRED']))
    return {
      message: `The certificate of ${endpoint} has expired`,
      hint: 'An operator renews it with: holdfast certs.',
    }
  return {
    message: `No answer from ${endpoint}: ${textOf(error)}`,
    hint: 'Check that this is the address of a running node. --endpoint and --admin-endpoint take several addresses, separated by commas.',
  }
}

function chainOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : []
}

function codesIn(error: Error): readonly string[] {
  return chainOf(error).flatMap((one) => ('code' in one && typeof one.code === 'string' ? [one.code] : []))
}

/** The innermost text. */
function textOf(error: Error): string {
  return chainOf(error).at(-1)?.message ?? error.message
}

function speaksTls(endpoint: string): Promise<boolean> {
  const { hostname, port } = new URL(endpoint)
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    // Nothing is sent and nothing is trusted: only whether there is a handshake counts.
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false })
    const end = (isTls: boolean): void => {
      socket.destroy()
      resolve(isTls)
    }
    socket.setTimeout(HANDSHAKE_MS_MAX, () => end(false))
    socket.once('secureConnect', () => end(true))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // A node that wants a client certificate refuses ours in the words of TLS.
      end(/^ERR_SSL_TLSV|^ERR_SSL_SSLV3_ALERT/.test(error.code ?? ''))
    })
  })
}
