/**
 * Reads a JSON body: bounded, as claimed, strict UTF-8, no name twice in one object, and none that its schema does not know. [decisions 16]
 *
 * Rule: two parsers that see different values for a repeated key are how a check is walked around, so we refuse it.
 */
import { Refusal } from '../base/refusal.ts'
import { BodyDigests, type Claims } from '../content/checksums.ts'
import { firstNameFault, type NameFault, type NameRules } from './json-names.ts'
import { unknownNameAt } from './validate.ts'

export const JSON_BODY_BYTES_MAX = 1024 * 1024
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true })

interface Reading {
  readonly bytesMax: number
  readonly claims: Claims
  readonly names: NameRules
  /** Asked for after the end of the body. */
  readonly trailers: () => object
}

/** undefined when the body is empty. Throws Refusal. */
export async function readJsonBody(
  bytes: AsyncIterable<Uint8Array>,
  { bytesMax, claims, names, trailers }: Reading,
): Promise<unknown> {
  const body = await collect(bytes, bytesMax)
  const [trailer] = Object.keys(trailers())
  if (trailer !== undefined)
    throw new Refusal(
      'invalid_request',
      `A JSON body takes no trailer fields, such as ${trailer.slice(0, 80)}`,
    )
  verifyBody(body, claims)
  if (body.length === 0) return undefined
  const text = decode(body)
  const fault = firstNameFault(text, names)
  if (fault !== null) throw refusalOf(fault, names.schema)
  return parse(text)
}

function refusalOf(fault: NameFault, schema: object | null): Refusal {
  switch (fault.kind) {
    case 'twice':
      return new Refusal(
        'invalid_json',
        `The body gives "${fault.name.slice(0, 80)}" more than once in one object`,
      )
    case 'unknown':
      return new Refusal(
        'invalid_request',
        `The body is not accepted: ${unknownNameAt(schema ?? {}, fault.pointer, fault.name)}`,
      )
    case 'many':
      return new Refusal('invalid_request', `The body has more ${fault.what} than any body here needs`)
    case 'deep':
      return new Refusal('invalid_json', 'The body is nested deeper than any body here needs')
  }
}

/** Throws Refusal checksum_mismatch. */
export function verifyBody(body: Uint8Array, claims: Claims): void {
  if (claims.size === 0) return
  const digests = new BodyDigests(claims)
  digests.update(body)
  digests.verified()
}

export function tooLargeForJson(bytesMax: number): Refusal {
  return new Refusal('entity_too_large', `The body is larger than the ${bytesMax} bytes of a JSON body here`)
}

async function collect(bytes: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    length += piece.length
    if (length > bytesMax) throw tooLargeForJson(bytesMax)
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}

function decode(body: Buffer): string {
  try {
    return STRICT_UTF8.decode(body)
  } catch (cause) {
    throw new Refusal('invalid_json', 'The body is not UTF-8', { cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split(', "')[0] : 'malformed'
    throw new Refusal('invalid_json', `The body is not JSON: ${reason}`, { cause })
  }
}
