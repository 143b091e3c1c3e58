/**
 * A body in the content coding `aws-chunked`: chunks with their sizes, each signed or not, and trailers. [AWS S3 API reference: Signature
 * Calculations for the Authorization Header: Transferring Payload in Multiple Chunks; the same with trailing headers]
 *
 * Owns: framing, the chain of signatures. Knows nothing of: streams; it is fed pieces and returns the plain bytes in them. Rules: what it
 * returned counts only when `end` has returned: a chunk is proved at its end. Lines and trailers are bounded.
 */
import { createHash, type Hash } from 'node:crypto'
import { SignatureFault } from './signature-fault.ts'
import { chunkSignature, isSameSignature, sha256Hex, type Signing } from './signing-key.ts'

/** Hexadecimal size, extension and signature. */
const LINE_BYTES_MAX = 512
const TRAILERS_MAX = 16
const CHUNK_BYTES_MAX = 5 * 1024 ** 3
const CHUNK_LINE = /^([0-9a-fA-F]{1,16})(?:;chunk-signature=([0-9a-f]{64}))?$/
const TRAILER_LINE = /^([A-Za-z0-9-]{1,128}):(.*)$/
const TRAILER_SIGNATURE = 'x-amz-trailer-signature'
const EMPTY_HASH = sha256Hex('')
const [CR, LF] = [0x0d, 0x0a]

export interface ChunkedBody {
  /** Null: chunks are not signed. `first`: the signature of the request. */
  readonly signing: (Signing & { readonly first: string }) | null
  readonly hasTrailers: boolean
  /** Plain bytes, from `x-amz-decoded-content-length`. */
  readonly length: number
}

type Place = 'size' | 'data' | 'dataEnd' | 'trailer' | 'done'

export class SignedChunks {
  readonly #body: ChunkedBody
  readonly #trailers = new Map<string, string>()
  #place: Place = 'size'
  #line = ''
  #left = 0
  #plainBytes = 0
  #previous: string
  #expected = ''
  #hash: Hash | null = null

  constructor(body: ChunkedBody) {
    this.#body = body
    this.#previous = body.signing?.first ?? ''
  }

  /** The plain bytes of this piece, as views of it. Throws SignatureFault. */
  feed(piece: Uint8Array): readonly Uint8Array[] {
    const plain: Uint8Array[] = []
    let at = 0
    while (at < piece.length) {
      if (this.#place === 'data') {
        const part = piece.subarray(at, at + this.#left)
        at += part.length
        plain.push(part)
        this.#takeData(part)
      } else at = this.#takeLine(piece, at)
    }
    return plain
  }

  /** The trailers: lower-case name -> value. Throws SignatureFault when the body is not whole. */
  end(): ReadonlyMap<string, string> {
    if (this.#place !== 'done') throw broken('it ends before its last chunk')
    if (this.#plainBytes !== this.#body.length)
      throw broken(`it has ${this.#plainBytes} bytes, x-amz-decoded-content-length says ${this.#body.length}`)
    return this.#trailers
  }

  #takeData(part: Uint8Array): void {
    this.#hash?.update(part)
    this.#left -= part.length
    this.#plainBytes += part.length
    if (this.#left > 0) return
    this.#proveChunk()
    this.#place = 'dataEnd'
  }

  /** Returns where the next line, or the data of a chunk, begins. */
  #takeLine(piece: Uint8Array, from: number): number {
    if (this.#place === 'done') throw broken('it continues after its end')
    const found = piece.indexOf(LF, from)
    const until = found < 0 ? piece.length : found
    this.#line += Buffer.from(piece.buffer, piece.byteOffset + from, until - from).toString('latin1')
    if (this.#line.length > LINE_BYTES_MAX) throw broken(`a line has more than ${LINE_BYTES_MAX} characters`)
    if (found < 0) return until
    const line = this.#line.charCodeAt(this.#line.length - 1) === CR ? this.#line.slice(0, -1) : this.#line
    this.#line = ''
    this.#read(line)
    return found + 1
  }

  #read(line: string): void {
    if (this.#place === 'size') this.#beginChunk(line)
    else if (this.#place === 'trailer') this.#readTrailer(line)
    else if (line === '') this.#place = 'size'
    else throw broken('a chunk is longer than its size says')
  }

  #beginChunk(line: string): void {
    const { signing, length } = this.#body
    const [, digits = '', signature] = CHUNK_LINE.exec(line) ?? []
    const size = Number.parseInt(digits, 16)
    if (!(size <= CHUNK_BYTES_MAX)) throw broken('a chunk does not begin with its size')
    if ((signature === undefined) !== (signing === null))
      throw broken(signing === null ? 'a chunk has a signature' : 'a chunk has no signature')
    if (this.#plainBytes + size > length)
      throw broken(`it is longer than x-amz-decoded-content-length, ${length}`)
    this.#expected = signature ?? ''
    this.#left = size
    this.#hash = signing === null ? null : createHash('sha256')
    if (size > 0) {
      this.#place = 'data'
      return
    }
    this.#proveChunk()
    // Without trailers an empty line ends the body, as it ends the trailers.
    this.#place = 'trailer'
  }

  #proveChunk(): void {
    const { signing } = this.#body
    if (signing === null || this.#hash === null) return
    const hashes = [EMPTY_HASH, this.#hash.digest('hex')]
    const right = chunkSignature(signing, { kind: 'PAYLOAD', previous: this.#previous, hashes })
    if (!isSameSignature(right, this.#expected))
      throw new SignatureFault('SignatureDoesNotMatch', 'The signature of a chunk does not match its bytes')
    this.#previous = right
    this.#hash = null
  }

  #readTrailer(line: string): void {
    if (line === '') return this.#endTrailers()
    const [, name = '', value = ''] = TRAILER_LINE.exec(line) ?? []
    if (!this.#body.hasTrailers || name === '')
      throw broken('something other than a trailer follows its last chunk')
    if (this.#trailers.size >= TRAILERS_MAX) throw broken(`it has more than ${TRAILERS_MAX} trailers`)
    if (this.#trailers.has(name.toLowerCase())) throw broken(`it has the trailer ${name} twice`)
    this.#trailers.set(name.toLowerCase(), value.trim())
  }

  #endTrailers(): void {
    const { signing, hasTrailers } = this.#body
    this.#place = 'done'
    const given = this.#trailers.get(TRAILER_SIGNATURE)
    this.#trailers.delete(TRAILER_SIGNATURE)
    if (signing === null || !hasTrailers) return
    const signed = [...this.#trailers]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `${name}:${value}\n`)
    const hashes = [sha256Hex(Buffer.from(signed.join(''), 'latin1'))]
    const right = chunkSignature(signing, { kind: 'TRAILER', previous: this.#previous, hashes })
    if (given === undefined || !isSameSignature(right, given))
      throw new SignatureFault('SignatureDoesNotMatch', 'The signature of the trailers does not match them')
  }
}

const broken = (why: string): SignatureFault =>
  new SignatureFault('IncompleteBody', `The body is not what aws-chunked describes: ${why}`)
