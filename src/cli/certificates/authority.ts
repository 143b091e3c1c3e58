/**
 * The certificate authority of a cluster: its identity, the certificates it signs and their lifetime.
 *
 * Owns: the identity that peers check, a URI of cluster and node (docs/formats/peer-protocol.md). Knows nothing of: files.
 * Rule: a certificate expires no later than the authority that signed it; otherwise it would look valid and be refused.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { clusterUri, identityOf, nodeUri } from '../../../cluster/index.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { signedCertificate } from './signed-certificate.ts'

export interface KeyPair {
  /** Both are PEM. */
  readonly certificate: string
  readonly key: string
}

export interface Authority {
  readonly certificate: X509Certificate
  readonly key: KeyObject
  readonly clusterId: string
}

interface Term {
  readonly now: number
  readonly days: number
}

const AUTHORITY_NAME = 'holdfast cluster CA'
const DAY_MS = 86_400_000
/** The tolerance for the difference between the clocks of two machines. */
const SKEW_MS = 300_000
const HOSTS_MAX = 100
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
const HOST_CHARS_MAX = 253

export function newAuthority(clusterId: string, { now, days }: Term): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = signedCertificate(
    {
      commonName: AUTHORITY_NAME,
      issuerName: AUTHORITY_NAME,
      publicKey,
      hosts: [],
      uri: clusterUri(clusterId),
      isAuthority: true,
      ...validity({ now, days }),
    },
    privateKey,
  )
  return { certificate, key: keyPem(privateKey) }
}

/** The files of an authority that newAuthority made. Throws CommandError `unusable_authority`. */
export function readAuthority({ certificate: pem, key: keyText }: KeyPair, now: number): Authority {
  const certificate = parsed('certificate', () => new X509Certificate(pem))
  const key = parsed('key', () => createPrivateKey(keyText))
  const clusterId = identityOf(certificate)?.clusterId
  if (!certificate.ca || clusterId === undefined)
    throw unusable('its certificate is not that of a cluster CA made by `holdfast certs init`')
  if (!certificate.checkPrivateKey(key)) throw unusable('its key belongs to another certificate')
  if (certificate.validToDate.getTime() <= now) throw unusable(`it expired at ${certificate.validTo}`)
  return { certificate, key, clusterId }
}

export function newNodePair(
  authority: Authority,
  { nodeId, hosts }: { readonly nodeId: string; readonly hosts: readonly string[] },
  term: Term,
): KeyPair {
  refuseHosts(hosts)
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { notBefore, notAfter } = validity(term)
  const end = Math.min(notAfter.getTime(), authority.certificate.validToDate.getTime())
  const certificate = signedCertificate(
    {
      commonName: nodeId,
      issuerName: AUTHORITY_NAME,
      publicKey,
      hosts: [...new Set([nodeId, ...hosts])],
      uri: nodeUri({ clusterId: authority.clusterId, nodeId }),
      isAuthority: false,
      notBefore,
      notAfter: new Date(end),
    },
    authority.key,
  )
  return { certificate, key: keyPem(privateKey) }
}

function validity({ now, days }: Term): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - SKEW_MS), notAfter: new Date(now + days * DAY_MS) }
}

const keyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

function refuseHosts(hosts: readonly string[]): void {
  if (hosts.length > HOSTS_MAX) throw wrongHost(`more than ${HOSTS_MAX} hosts were given`)
  for (const host of hosts) {
    const isName = host.length <= HOST_CHARS_MAX && host.split('.').every((label) => HOST_LABEL.test(label))
    if (isIP(host) === 0 && !isName) throw wrongHost(`'${host}' is neither a DNS name nor an IP address`)
  }
}

function wrongHost(why: string): CommandError {
  const hint = 'Give names such as n1.example.net or addresses such as 10.0.0.1, each with its own --host.'
  return new CommandError(`Cannot issue a certificate: ${why}`, {
    code: 'wrong_host',
    hint,
    exitCode: EXIT.usage,
  })
}

function parsed<T>(what: string, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    throw unusable(`its ${what} cannot be read as PEM`, cause)
  }
}

function unusable(why: string, cause?: unknown): CommandError {
  const hint = 'Name the folder that `holdfast certs init` made, with ca.pem and ca.key in it.'
  return new CommandError(`Cannot use the cluster CA: ${why}`, { code: 'unusable_authority', hint, cause })
}
