/**
 * Reads an XML body: bounded while it arrives, UTF-8 alone, without document types. [XML 1.0] [AWS S3 API reference]
 *
 * Owns: bounds, and turns of the event loop between pieces. Knows nothing of: what S3 asks for in it. Rules: entities are never declared, so nothing
 * expands; namespaces are not looked at, since clients send the one of S3, others and none.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type SaxesOptions, SaxesParser } from 'saxes'

export interface XmlBounds {
  readonly bytesMax: number
  /** With the root. */
  readonly elementsMax: number
  /** The root has depth 1. */
  readonly depthMax: number
}

/** The body is not XML, not what the operation asks for, or beyond its bounds: `MalformedXML`. */
export class MalformedXmlError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MalformedXmlError'
  }
}

/** Bytes that are parsed before other work gets its turn: one or two milliseconds. */
const TURN_BYTES = 16 * 1024
/** The attribute `xsi:type` and declarations of namespaces are all that S3 asks for. */
const ATTRIBUTES_MAX = 16
const ECHO_MAX = 80

export class ReadElement {
  /** Without its prefix. */
  readonly name: string
  readonly children: ReadElement[] = []
  /** Of the element itself, without that of its children; exactly as sent, with white space. */
  text = ''

  constructor(name: string) {
    this.name = name
  }

  childrenNamed(name: string): readonly ReadElement[] {
    return this.children.filter((child) => child.name === name)
  }

  /** Throws MalformedXmlError when there are several. */
  child(name: string): ReadElement | null {
    const [first, second] = this.childrenNamed(name)
    if (second !== undefined) throw new MalformedXmlError(`${this.name} has more than one ${name}`)
    return first ?? null
  }

  /** The text of the one child of this name. Throws MalformedXmlError when there are several. */
  textOf(name: string): string | null {
    return this.child(name)?.text ?? null
  }

  /** Throws MalformedXmlError when there is not exactly one. */
  needed(name: string): ReadElement {
    const child = this.child(name)
    if (child === null) throw new MalformedXmlError(`${this.name} has no ${name}`)
    return child
  }
}

/** The root element. Throws MalformedXmlError, and what `pieces` throws. */
export async function readXml(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bounds: XmlBounds,
): Promise<ReadElement> {
  const tree = new TreeReader(bounds)
  let sinceTurn = 0
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += TURN_BYTES) {
      const part = piece.subarray(at, at + TURN_BYTES)
      if (sinceTurn + part.length > TURN_BYTES) {
        await nextTurn()
        sinceTurn = 0
      }
      sinceTurn += part.length
      tree.feed(part)
    }
  }
  return tree.end()
}

class TreeReader {
  readonly #bounds: XmlBounds
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #parser: SaxesParser<SaxesOptions>
  readonly #open: ReadElement[] = []
  #root: ReadElement | null = null
  #bytes = 0
  #elements = 0

  constructor(bounds: XmlBounds) {
    this.#bounds = bounds
    this.#parser = this.#newParser()
  }

  feed(piece: Uint8Array): void {
    this.#bytes += piece.length
    const { bytesMax } = this.#bounds
    if (this.#bytes > bytesMax) throw new MalformedXmlError(`The body has more than ${bytesMax} bytes`)
    this.#parser.write(this.#decode(piece))
  }

  end(): ReadElement {
    this.#parser.write(this.#decode())
    this.#parser.close()
    if (this.#root === null) throw new MalformedXmlError('The body has no element')
    return this.#root
  }

  #decode(piece?: Uint8Array): string {
    try {
      return piece === undefined ? this.#decoder.decode() : this.#decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw new MalformedXmlError('The body is not UTF-8', { cause })
    }
  }

  #newParser(): SaxesParser<SaxesOptions> {
    const parser = new SaxesParser<SaxesOptions>({ xmlns: false })
    // Without a handler that throws, the parser would continue behind an error.
    parser.on('error', ({ message }) => {
      throw new MalformedXmlError(`The body is not well-formed XML: ${message.slice(0, ECHO_MAX)}`)
    })
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
        throw new MalformedXmlError(
          `The encoding of the body is ${encoding.slice(0, ECHO_MAX)}, expected UTF-8`,
        )
    })
    parser.on('doctype', () => {
      throw new MalformedXmlError('The body has a document type; send it without')
    })
    parser.on('processinginstruction', () => {
      throw new MalformedXmlError('The body has a processing instruction; send it without')
    })
    parser.on('opentagstart', ({ name }) => this.#start(name))
    parser.on('attribute', this.#boundOfAttributes())
    parser.on('text', (text) => this.#add(text))
    parser.on('cdata', (text) => this.#add(text))
    parser.on('closetag', () => this.#open.pop())
    return parser
  }

  #start(name: string): void {
    const { depthMax, elementsMax } = this.#bounds
    this.#elements += 1
    if (this.#elements > elementsMax)
      throw new MalformedXmlError(`The body has more than ${elementsMax} elements`)
    if (this.#open.length >= depthMax)
      throw new MalformedXmlError(`The body is nested deeper than ${depthMax} elements`)
    const child = new ReadElement(name.slice(name.indexOf(':') + 1))
    const parent = this.#open.at(-1)
    if (parent === undefined) this.#root = child
    else parent.children.push(child)
    this.#open.push(child)
  }

  #boundOfAttributes(): () => void {
    let [element, count] = [0, 0]
    return () => {
      count = element === this.#elements ? count + 1 : 1
      element = this.#elements
      if (count > ATTRIBUTES_MAX)
        throw new MalformedXmlError(`An element has more than ${ATTRIBUTES_MAX} attributes`)
    }
  }

  /** Outside of the root there is white space alone; the parser sees to it. */
  #add(text: string): void {
    const element = this.#open.at(-1)
    if (element !== undefined) element.text += text
  }
}
