/**
 * Certificates of this node and the question whom a certificate speaks for.
 *
 * Owns: reading the three files, the TLS options of both directions. Knows nothing of: HTTP.
 * Rule: a valid chain is not enough. The certificate must name the node id that the other side claims; else every
 * member could speak for the others.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ConnectionOptions, TlsOptions } from 'node:tls'
import type { NodeId } from '../raft/types.ts'
import { StartError, type TlsFiles } from '../types.ts'

type ClientTls = Required<
  Pick<
    TlsOptions & ConnectionOptions,
    'ca' | 'cert' | 'key' | 'minVersion' | 'rejectUnauthorized' | 'checkServerIdentity'
  >
>

export interface PeerTls {
  readonly server: TlsOptions
  client(peer: NodeId): ClientTls
}

export function loadPeerTls(files: TlsFiles, nodeId: NodeId): PeerTls {
  const material = {
    ca: read(files.ca),
    cert: read(files.cert),
    key: read(files.key),
    minVersion: 'TLSv1.3',
  } as const
  const own = parse(material.cert, files.cert)
  if (!certificateNames(own, nodeId)) {
    throw new StartError(
      'peer_certificate_wrong_name',
      `Cannot use certificate '${files.cert}': it does not name node '${nodeId}'`,
      {
        hint: `Issue a certificate with DNS:${nodeId} among its subject alternative names.`,
      },
    )
  }
  return {
    server: { ...material, requestCert: true, rejectUnauthorized: true },
    client: (peer) => ({
      ...material,
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => {
        if (certificateNames(new X509Certificate(certificate.raw), peer)) return undefined
        return new Error(`The certificate at the address of node ${peer} does not name it`)
      },
    }),
  }
}

/** A DNS entry or the common name equals the node id. No wildcards: a name that fits many nodes is no identity. */
export function certificateNames(certificate: X509Certificate, nodeId: NodeId): boolean {
  // A leading dot would ask OpenSSL for any subdomain.
  if (nodeId.startsWith('.')) return false
  return certificate.checkHost(nodeId, { subject: 'always', wildcards: false }) !== undefined
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new StartError('peer_tls_unreadable', `Cannot read '${path}' for TLS between nodes`, {
      cause,
      hint: 'Check the path and that the user of this process may read the file.',
    })
  }
}

function parse(pem: Buffer, path: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw new StartError('peer_tls_invalid', `Cannot use '${path}': it holds no PEM certificate`, {
      cause,
      hint: 'Issue the certificates of this node again.',
    })
  }
}
