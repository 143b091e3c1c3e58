/**
 * From where an access key or admin token may be used: addresses, and certificates of clients.
 *
 * Owns: what a binding may say, and whether a request satisfies it. Knows nothing of: how the address of a caller and its
 * certificate are found; the edge does that. Rules: it is asked at every request, after the credential was proved, so it does not
 * tell whether a secret is right; an entry that this version cannot read holds for no request. [decisions 10]
 */
import { Refusal } from '../base/refusal.ts'
import type { CallerBinding } from '../state-machine/tenants/records.ts'
import { addressRange, comparableAddress } from '../base/network-address.ts'
import type { ClientCertificate, Connection, Principal } from './base/principal.ts'

export const BOUND_ADDRESSES_MAX = 32
export const BOUND_CERTIFICATES_MAX = 8
const COMMON_NAME = /^cn:[^\p{Cc}]{1,256}$/u
const DIGEST = /^[sS][hH][aA]256:((?:[0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2})$/
/** Either, as JSON Schema says it. */
export const CERTIFICATE_PATTERN = `${DIGEST.source}|^cn:[^\\u0000-\\u001f\\u007f-\\u009f]{1,256}$`
/** Ranges that were asked lately, by their text. */
const RANGES_MAX = 1_024
const RANGES = new Map<string, ((address: string) => boolean) | null>()

interface GivenBinding {
  /** undefined keeps what there is. */
  readonly addresses?: readonly string[] | undefined
  readonly certificates?: readonly string[] | undefined
}

/** `present`: undefined where nothing is bound. Undefined when nothing is given. Throws Refusal invalid_argument that names the entry. */
export function readBinding(given: GivenBinding, present?: CallerBinding): CallerBinding | undefined {
  if (given.addresses === undefined && given.certificates === undefined) return undefined
  return {
    addresses: given.addresses?.map(readAddress) ?? present?.addresses ?? [],
    certificates: given.certificates?.map(readCertificate) ?? present?.certificates ?? [],
  }
}

/** What did not hold. */
type Gate = 'address' | 'certificate'

/** Who it was is proved, so the audit log names the holder of a credential that is used where it may not be. */
export class BindingRefusal extends Refusal {
  readonly principal: Principal
  readonly gate: Gate
  constructor(principal: Principal, gate: Gate, why: string, headers: Readonly<Record<string, string>>) {
    const holder =
      principal.kind === 'accessKey'
        ? `Access key '${principal.accessKeyId}'`
        : `Admin token '${principal.tokenId}'`
    super('access_denied', `${holder} ${why}`, { headers })
    this.principal = principal
    this.gate = gate
  }
}

/** Null: the credential may be used from there. `headers`: of the refusal. */
export function bindingRefusal(
  binding: CallerBinding | undefined,
  connection: Pick<Connection, 'address' | 'certificate'>,
  principal: Principal,
  headers: Readonly<Record<string, string>> = {},
): BindingRefusal | null {
  if (binding === undefined) return null
  const { addresses, certificates } = binding
  if (addresses.length > 0 && !isWithin(addresses, connection.address))
    return new BindingRefusal(principal, 'address', `may not be used from ${connection.address}`, headers)
  if (certificates.length === 0 || isShown(certificates, connection.certificate ?? null)) return null
  const why = 'may be used only with a client certificate that it is bound to'
  return new BindingRefusal(principal, 'certificate', why, headers)
}

function isWithin(ranges: readonly string[], address: string): boolean {
  const given = comparableAddress(address)
  return given !== undefined && ranges.some((range) => rangeOf(range)?.(given) === true)
}

function rangeOf(text: string): ((address: string) => boolean) | null {
  const known = RANGES.get(text)
  if (known !== undefined) return known
  if (RANGES.size >= RANGES_MAX) RANGES.clear()
  const range = addressRange(text)
  RANGES.set(text, range)
  return range
}

function isShown(bound: readonly string[], shown: ClientCertificate | null): boolean {
  if (shown === null) return false
  const { sha256, commonName } = shown
  return bound.includes(`sha256:${sha256}`) || (commonName !== null && bound.includes(`cn:${commonName}`))
}

function readAddress(text: string): string {
  if (addressRange(text) !== null) return text
  throw new Refusal(
    'invalid_argument',
    `"${text.slice(0, 64)}" is no address and no range of addresses: write it like 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32`,
  )
}

function readCertificate(text: string): string {
  const [, digest] = DIGEST.exec(text) ?? []
  if (digest !== undefined) return `sha256:${digest.replaceAll(':', '').toLowerCase()}`
  if (COMMON_NAME.test(text)) return text
  throw new Refusal(
    'invalid_argument',
    `"${text.slice(0, 80)}" names no certificate: write sha256: and its fingerprint in hex, or cn: and its common name`,
  )
}
