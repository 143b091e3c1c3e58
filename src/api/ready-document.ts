/**
 * A document that never changes while the node runs: serialized once, compressed once, and not sent to a client that has it. [RFC 9110 8.8, 12.5.3]
 *
 * Owns: which form a client gets. Knows nothing of: what the document says.
 * Rule: each form has an entity tag of its own, for its bytes differ.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Answer } from './route.ts'

/** Clients ask again after so long, and mostly get 304. s */
const FRESH_SECONDS = 300

type Coding = 'br' | 'gzip' | 'identity'

interface Form {
  readonly bytes: Buffer
  readonly etag: string
}

export class ReadyDocument {
  readonly #make: () => object
  #forms: Promise<Readonly<Record<Coding, Form>>> | null = null

  /** `make` is called at most once, when a client first asks. */
  constructor(make: () => object) {
    this.#make = make
  }

  async answerTo(headers: IncomingHttpHeaders): Promise<Answer> {
    const forms = await (this.#forms ??= formsOf(this.#make()))
    const coding = acceptedCoding(headers['accept-encoding'])
    const { bytes, etag } = forms[coding]
    const common = { etag, vary: 'Accept-Encoding', 'cache-control': `public, max-age=${FRESH_SECONDS}` }
    if (isHeld(headers['if-none-match'], etag)) return { kind: 'empty', status: 304, headers: common }
    const encoded = coding === 'identity' ? {} : { 'content-encoding': coding }
    return { kind: 'ready', contentType: 'application/json', bytes, headers: { ...common, ...encoded } }
  }
}

async function formsOf(document: object): Promise<Readonly<Record<Coding, Form>>> {
  const bytes = Buffer.from(JSON.stringify(document))
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  const [zipped, brotli] = await Promise.all([promisify(gzip)(bytes), promisify(brotliCompress)(bytes)])
  return {
    identity: { bytes, etag: `"${tag}"` },
    gzip: { bytes: zipped, etag: `"${tag}-gzip"` },
    br: { bytes: brotli, etag: `"${tag}-br"` },
  }
}

/** The smallest form that the client takes. */
export function acceptedCoding(header: string | string[] | undefined): Coding {
  if (takesCoding(header, 'br')) return 'br'
  return takesCoding(header, 'gzip') ? 'gzip' : 'identity'
}

/** Codings that a client names with `q=0` it does not take. */
export function takesCoding(header: string | string[] | undefined, coding: 'br' | 'gzip'): boolean {
  const taken = new Map<string, boolean>()
  for (const part of String(header ?? '').split(',')) {
    const [name = '', ...parameters] = part.trim().toLowerCase().split(';')
    const isRefused = parameters.some((parameter) => /^\s*q\s*=\s*0(\.0*)?\s*$/.test(parameter))
    if (name.trim() !== '') taken.set(name.trim(), !isRefused)
  }
  return taken.get(coding) ?? taken.get('*') ?? false
}

/** Weak comparison. [RFC 9110 13.1.2] */
export function isHeld(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}
