/**
 * Reads a browser form in `multipart/form-data`: the fields before the file as texts, the file as it comes. [RFC 7578] [AWS S3 API reference: POST Object]
 *
 * Owns: framing and its bounds. Knows nothing of: what fields mean. Rules: all before the file fits in 20 KiB, as S3 has it; a file is whole only when what follows it was
 * read, so its consumer stores nothing that a broken form has sent; the source is never closed here. Libraries for forms push, keep going behind a file, and bound
 * each field alone.
 */
import { FormFault } from './form-fault.ts'

/** Of everything before the bytes of the file. */
export const FIELDS_BYTES_MAX = 20 * 1024
/** Behind the file a form may have its button. */
const LATE_BYTES_MAX = 2 * 1024
const BOUNDARY = /^[A-Za-z0-9'()+_,\-./:=? ]{0,69}[A-Za-z0-9'()+_,\-./:=?]$/
const FILE = 'file'
const NAME_CHARACTERS_SHOWN = 80

export interface Form {
  /** Lower-case name -> text. */
  readonly fields: ReadonlyMap<string, string>
  /** As the browser names it, with or without a path; '' where it does not. */
  readonly fileName: string
  /** Once. Throws FormFault where the form is broken, also behind the file. */
  readonly file: AsyncIterable<Uint8Array>
}

/** Throws FormFault for a content type without a boundary. */
export function boundaryOf(contentType: string): string {
  const boundary = parameterOf(splitParameters(contentType), 'boundary') ?? ''
  if (BOUNDARY.test(boundary)) return boundary
  throw malformed('its Content-Type has no boundary of 1 to 70 characters')
}

/** `isMeant`: of a field behind the file, by its lower-case name: one that means something is refused, because S3 ignores all of them. Throws FormFault. */
export async function readForm(
  source: AsyncIterable<Uint8Array>,
  { boundary, isMeant }: { readonly boundary: string; readonly isMeant: (name: string) => boolean },
): Promise<Form> {
  const reader = new FormReader(source, boundary)
  const fields = new Map<string, string>()
  await reader.begin()
  for (;;) {
    const part = await reader.nextPart()
    if (part === null)
      throw new FormFault('InvalidArgument', 'A form has exactly one field "file": this one has none')
    if (part.name === FILE) return { fields, fileName: part.fileName, file: reader.fileBytes(isMeant) }
    if (fields.has(part.name))
      throw new FormFault('InvalidArgument', `The form has the field ${shown(part.name)} twice`)
    fields.set(part.name, textOf(await reader.content(), `the field ${shown(part.name)}`))
  }
}

interface Part {
  readonly name: string
  readonly fileName: string
}

const CRLF = Buffer.from('\r\n')
const END_OF_HEADERS = Buffer.from('\r\n\r\n')
const DASHES = Buffer.from('--')

class FormReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #delimiter: Buffer
  /** Read and not used yet; our own bytes: those of a piece are gone when the next one is asked for. */
  #held: Buffer = Buffer.alloc(0)
  #bytesLeft = FIELDS_BYTES_MAX

  constructor(source: AsyncIterable<Uint8Array>, boundary: string) {
    this.#pieces = source[Symbol.asyncIterator]()
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /** The first delimiter has no line before it. */
  async begin(): Promise<void> {
    const first = this.#delimiter.subarray(CRLF.length)
    const before = await this.#until(first)
    if (before.length > 0) throw malformed('it does not begin with its boundary')
  }

  /** Behind a delimiter. Null: that was the last one, and the form has ended. */
  async nextPart(): Promise<Part | null> {
    if (await this.#isNext(DASHES)) {
      await this.#end()
      return null
    }
    if (!(await this.#isNext(CRLF))) throw malformed('a boundary is followed by neither a line end nor "--"')
    // The line end of the delimiter belongs to the search, so that a part without headers is found too.
    this.#held = Buffer.concat([CRLF, this.#held])
    const head = await this.#until(END_OF_HEADERS)
    return partOf(textOf(head, 'a header of a field'))
  }

  /** Of the part, up to its delimiter. */
  content(): Promise<Buffer> {
    return this.#until(this.#delimiter)
  }

  async *fileBytes(isMeant: (name: string) => boolean): AsyncGenerator<Uint8Array> {
    const delimiter = this.#delimiter
    for (;;) {
      const at = this.#held.indexOf(delimiter)
      // What may be the beginning of a delimiter stays.
      const length = at < 0 ? Math.max(0, this.#held.length - delimiter.length + 1) : at
      const bytes = this.#held.subarray(0, length)
      this.#held = this.#held.subarray(at < 0 ? length : at + delimiter.length)
      if (length > 0) yield bytes
      if (at >= 0) break
      await this.#pull()
    }
    this.#bytesLeft = LATE_BYTES_MAX
    for (let part = await this.nextPart(); part !== null; part = await this.nextPart()) {
      if (part.name === FILE || isMeant(part.name))
        throw new FormFault(
          'InvalidArgument',
          `The field ${shown(part.name)} comes behind the file: send it before`,
        )
      await this.content()
    }
  }

  async #isNext(mark: Buffer): Promise<boolean> {
    while (this.#held.length < mark.length) await this.#pull()
    if (!this.#held.subarray(0, mark.length).equals(mark)) return false
    this.#use(mark.length)
    return true
  }

  /** What stands before the mark; both are used up. */
  async #until(mark: Buffer): Promise<Buffer> {
    let from = 0
    for (;;) {
      const at = this.#held.indexOf(mark, from)
      if (at >= 0) {
        const found = this.#held.subarray(0, at)
        this.#use(at + mark.length)
        return found
      }
      if (this.#held.length > this.#bytesLeft) throw tooLong()
      from = Math.max(0, this.#held.length - mark.length + 1)
      await this.#pull()
    }
  }

  #use(bytes: number): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) throw tooLong()
    this.#held = this.#held.subarray(bytes)
  }

  async #pull(): Promise<void> {
    const next = await this.#pieces.next()
    if (next.done === true) throw malformed('it ends before its last boundary')
    this.#held = Buffer.concat([this.#held, next.value])
  }

  /** Behind the last delimiter there is at most a line end. */
  async #end(): Promise<void> {
    for (;;) {
      if (!CRLF.subarray(0, this.#held.length).equals(this.#held))
        throw malformed('something follows its last boundary')
      const next = await this.#pieces.next()
      if (next.done === true) return
      this.#held = Buffer.concat([this.#held, next.value])
    }
  }
}

const HEADER_NAME = /^[a-z0-9-]{1,80}$/
const PLAIN_TRANSFER = /^(7bit|8bit|binary)$/i

/** `head`: begins with a line end where there are headers. */
function partOf(head: string): Part {
  const headers = new Map<string, string>()
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    if (!HEADER_NAME.test(name) || headers.has(name))
      throw malformed('a field has a header that is no header, or one twice')
    headers.set(name, line.slice(colon + 1).trim())
  }
  if (!PLAIN_TRANSFER.test(headers.get('content-transfer-encoding') ?? 'binary'))
    throw malformed('a field is encoded: send it as it is')
  const [kind = '', ...parameters] = splitParameters(headers.get('content-disposition') ?? '')
  const name = parameterOf(parameters, 'name')
  if (kind.toLowerCase() !== 'form-data' || name === null || name === '')
    throw malformed('a field has no name')
  const fileName = extendedFileName(parameters) ?? parameterOf(parameters, 'filename') ?? ''
  return { name: name.toLowerCase(), fileName }
}

/** At the semicolons that stand outside of quotes. */
function splitParameters(value: string): readonly string[] {
  const parts = ['']
  let isQuoted = false
  for (let at = 0; at < value.length; at += 1) {
    const one = value.slice(at, isEscape(value, at) ? at + 2 : at + 1)
    if (one === '"') isQuoted = !isQuoted
    if (one === ';' && !isQuoted) parts.push('')
    else parts.push((parts.pop() ?? '') + one)
    at += one.length - 1
  }
  return parts.map((part) => part.trim())
}

/** Browsers of old send a path with bare backslashes, so only these two are read as escaped. */
const isEscape = (value: string, at: number): boolean =>
  value[at] === '\\' && /["\\]/.test(value[at + 1] ?? '')

function parameterOf(parameters: readonly string[], name: string): string | null {
  const found = parameters.filter((one) => one.toLowerCase().startsWith(`${name}=`))
  if (found.length > 1) throw malformed(`a field has two parameters ${name}`)
  const text = found[0]?.slice(name.length + 1)
  if (text === undefined) return null
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
}

/** `filename*`, which some libraries send for names beyond ASCII. [RFC 8187] */
function extendedFileName(parameters: readonly string[]): string | null {
  const text = parameterOf(parameters, 'filename*')
  if (text === null) return null
  const [, encoded = ''] = /^utf-8'[^']*'(.*)$/i.exec(text) ?? []
  try {
    return decodeURIComponent(encoded)
  } catch (cause) {
    throw malformed('the name of the file is not percent-encoded UTF-8', { cause })
  }
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array, what: string): string {
  try {
    return STRICT_UTF8.decode(bytes)
  } catch (cause) {
    throw malformed(`${what} is not UTF-8`, { cause })
  }
}

const shown = (name: string): string => `"${name.slice(0, NAME_CHARACTERS_SHOWN)}"`

function malformed(why: string, options: ErrorOptions = {}): FormFault {
  return new FormFault('MalformedPOSTRequest', `The form cannot be read: ${why}`, options)
}

function tooLong(): FormFault {
  return new FormFault(
    'MaxPostPreDataLengthExceededError',
    `The fields of the form have more than ${FIELDS_BYTES_MAX} bytes before the file, or ${LATE_BYTES_MAX} behind it`,
  )
}
