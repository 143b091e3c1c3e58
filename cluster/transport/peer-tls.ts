/**
 * TLS between nodes: what this node presents, and what it requires of the other side.
 *
 * Owns: the TLS options of both directions. Knows nothing of: HTTP.
 * Rule: a valid chain is not enough. The certificate must name the node that the other side claims to be; otherwise every member
 * could impersonate the others.
 */
import { X509Certificate } from 'node:crypto'
import type { ConnectionOptions, TlsOptions } from 'node:tls'
import type { NodeId } from '../raft/types.ts'
import { type MetricSample, StartError, type TlsFiles } from '../base/types.ts'
import { CertificateFiles, type CertificateWatch } from './certificate-files.ts'
import { certificateNames, type ClaimedIdentity, nameFault } from './certificate-identity.ts'
import { certificateSamples } from './certificate-samples.ts'

type ClientTls = Required<
  Pick<ConnectionOptions, 'cert' | 'key' | 'minVersion' | 'rejectUnauthorized' | 'checkServerIdentity'>
>

export class PeerTls {
  readonly #self: ClaimedIdentity
  readonly #files: CertificateFiles

  /** Throws StartError. */
  constructor(files: TlsFiles, self: ClaimedIdentity) {
    this.#self = self
    const accept = (certificate: X509Certificate): void => refuseOtherName(certificate, files.cert, self)
    this.#files = new CertificateFiles({ files, code: 'peer_tls', use: 'TLS between nodes', accept })
  }

  /** For connections that are accepted from now on. */
  get server(): TlsOptions {
    return { ...this.#files.material, minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: true }
  }

  /** For connections that are opened from now on. */
  client(peer: NodeId): ClientTls {
    const claimed = { clusterId: this.#self.clusterId, nodeId: peer }
    return {
      ...this.#files.material,
      minVersion: 'TLSv1.3',
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => {
        return nameFault(new X509Certificate(certificate.raw), claimed)
      },
    }
  }

  /** SHA-256 of the certificate that this node presents, in the format of openssl. */
  get fingerprint(): string {
    return new X509Certificate(this.#files.material.cert).fingerprint256
  }

  certifies(certificate: X509Certificate, nodeId: NodeId): boolean {
    return certificateNames(certificate, { clusterId: this.#self.clusterId, nodeId })
  }

  watch(watch: CertificateWatch): void {
    this.#files.watch(watch)
  }

  stop(): void {
    this.#files.stop()
  }

  samples(): readonly MetricSample[] {
    return certificateSamples('peer', this.#files)
  }
}

/** What of the files refuses a start. Throws StartError, as a start does. */
export function examinePeerTls(files: TlsFiles, self: ClaimedIdentity): void {
  new PeerTls(files, self).stop()
}

function refuseOtherName(certificate: X509Certificate, path: string, self: ClaimedIdentity): void {
  if (certificateNames(certificate, self)) return
  const { clusterId, nodeId } = self
  throw new StartError(
    'peer_certificate_wrong_name',
    `Cannot use certificate '${path}': it does not name node '${nodeId}' of cluster '${clusterId}'`,
    {
      hint: `Issue one with \`holdfast certs issue --node ${nodeId}\`, or with DNS:${nodeId} by other means.`,
    },
  )
}
