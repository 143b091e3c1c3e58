/**
 * The YAML file of a node as written: each setting with its text and its line.
 *
 * Owns: which files are readable, the grammar (sections with keys), duplicate and unknown names. Knows nothing of: the meaning of values.
 * Rule: nothing is guessed and nothing is dropped. Text that cannot be parsed is a fault with its place.
 */
import { readFileSync, statSync } from 'node:fs'
import { type Document, isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import { type ConfigFault, configFault } from './config-fault.ts'
import { nearestName } from './nearest.ts'

/** One value before it is checked: a text, or the contents of a list or a section. */
export interface Written {
  readonly value: unknown
  readonly origin: { readonly kind: 'file' | 'environment'; readonly where: string }
}

export interface WrittenFile {
  readonly settings: ReadonlyMap<string, Written>
  readonly faults: readonly ConfigFault[]
  /** False: the file was not read completely, so a setting that was not found is not known to be missing. */
  readonly isUnderstood: boolean
}

const FILE_BYTES_MAX = 1024 * 1024
/** The most faults that are reported; a file of another kind has one in every line. */
const FAULTS_MAX = 50

export function readConfigFile(file: string, known: readonly string[]): WrittenFile {
  const text = readText(file)
  if (typeof text !== 'string') return { settings: new Map(), faults: [text], isUnderstood: false }
  return new FileReading(file, known).read(text)
}

function readText(file: string): string | ConfigFault {
  const refuse = (message: string, hint: string): ConfigFault =>
    configFault({ setting: null, where: file, message, hint })
  try {
    const found = statSync(file)
    if (found.isDirectory())
      return refuse('expected a file, found a directory', 'Name the YAML file in it with --config.')
    // A pipe is accepted: some deployments generate the configuration by a program.
    if (!found.isFile() && !found.isFIFO())
      return refuse('expected a file, found a device or a socket', 'Give a YAML file with --config.')
    const bytes = found.size > FILE_BYTES_MAX ? null : readFileSync(file)
    if (bytes === null || bytes.length > FILE_BYTES_MAX)
      return refuse(
        'it is larger than 1 MiB',
        'Check that it is the right file: --config takes the YAML file of a node.',
      )
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (cause instanceof TypeError) return refuse('the file is not UTF-8 text', 'Save it as UTF-8.')
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT')
      return refuse('the file does not exist', 'Give an existing configuration with --config.')
    if (code === 'EACCES' || code === 'EPERM')
      return refuse(
        'this user has no permission to read the file',
        `Let the user of the node read it (chmod, chown).`,
      )
    return refuse(`the file cannot be read (${code})`, 'Give a readable configuration with --config.')
  }
}

class FileReading {
  readonly #file: string
  readonly #known: readonly string[]
  readonly #sections: ReadonlySet<string>
  readonly #lines = new LineCounter()
  readonly #settings = new Map<string, Written>()
  readonly #faults: ConfigFault[] = []

  constructor(file: string, known: readonly string[]) {
    this.#file = file
    this.#known = known
    this.#sections = new Set(known.map((name) => name.split('.')[0] ?? ''))
  }

  read(text: string): WrittenFile {
    const document = parseDocument(text, { uniqueKeys: true, lineCounter: this.#lines })
    const isUnderstood = this.#isSound(document) && this.#readTop(document)
    return { settings: this.#settings, faults: this.#faults.slice(0, FAULTS_MAX), isUnderstood }
  }

  /** False: the document has syntax errors, and its contents may differ from what its author intended. */
  #isSound(document: Document): boolean {
    let isSound = true
    for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
      const [what = ''] = message.split(/ at line \d/)
      const isTwice = code === 'DUPLICATE_KEY'
      if (!isTwice) isSound = false
      const hint = isTwice ? 'Keep one of them.' : 'Correct the YAML at that place.'
      this.#fault(
        pos[0],
        null,
        isTwice ? 'a key with this name appears twice' : `this is not valid YAML: ${what}`,
        hint,
      )
    }
    visit(document, {
      Alias: (_, { range }) => {
        isSound = false
        this.#fault(range?.[0], null, 'an alias (*name) is not accepted', 'Write the value itself there.')
      },
    })
    return isSound
  }

  /** False when there are no sections to read. */
  #readTop({ contents }: Document): boolean {
    if (contents === null || (isScalar(contents) && isEmpty(contents))) return true
    if (!isMap(contents)) {
      this.#fault(0, null, 'expected sections such as node: and cluster:', 'See docs/configuration.md.')
      return false
    }
    for (const pair of contents.items) this.#readSection(pair)
    return true
  }

  #readSection({ key, value }: Entry): void {
    const section = textOf(key)
    if (isMap(value)) {
      for (const inner of value.items) this.#readInner(section, inner)
    } else if (!this.#sections.has(section)) {
      this.#take(section, { key, value })
    } else if (value !== null && !(isScalar(value) && isEmpty(value))) {
      // An empty value is accepted above: a section whose keys are all commented out.
      this.#fault(
        placeOf(key),
        section,
        `expected keys under '${section}:'`,
        'Write each key on a line of its own.',
      )
    }
  }

  /** A section in a section holds settings with a further dot. */
  #readInner(section: string, pair: Entry): void {
    const name = `${section}.${textOf(pair.key)}`
    const isSection = this.#known.some((known) => known.startsWith(`${name}.`))
    if (isSection && isMap(pair.value)) for (const inner of pair.value.items) this.#readInner(name, inner)
    else this.#take(name, pair)
  }

  #take(name: string, { key, value }: Entry): void {
    const at = placeOf(key)
    if (!this.#known.includes(name)) {
      const { message, hint } = unknownName(name, this.#known)
      this.#fault(at, name, message, hint)
    } else if (this.#settings.has(name)) {
      // The parser reports a duplicate, unless one key is in a section and the other is written with a dot.
      const isReported = this.#faults.some(({ where }) => where === this.#place(at))
      if (!isReported) this.#fault(at, name, `'${name}' appears twice`, 'Keep one of them.')
    } else if (value === null || (isScalar(value) && isEmpty(value))) {
      this.#fault(at, name, `'${name}' has no value`, 'Write one, or remove the line.')
    } else {
      const given = isScalar(value) ? textOf(value) : isNode(value) ? value.toJSON() : value
      this.#settings.set(name, { value: given, origin: { kind: 'file', where: this.#place(at) } })
    }
  }

  #fault(at: number | undefined, setting: string | null, message: string, hint: string): void {
    this.#faults.push(configFault({ setting, where: this.#place(at), message, hint }))
  }

  #place(at: number | undefined): string {
    return `${this.#file}:${this.#lines.linePos(at ?? 0).line || 1}`
  }
}

interface Entry {
  readonly key: unknown
  readonly value: unknown
}

const placeOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined)

/** The text as written in the file: a number such as 007 or 1e3 is a text here, and so is a word such as yes. */
function textOf(node: unknown): string {
  if (isScalar(node)) return node.source ?? String(node.value)
  return isAlias(node) ? '' : String(node)
}

/** Nothing, null or ~, which is not the same as an empty text in quotes. */
function isEmpty({ value, type }: { value: unknown; type?: unknown }): boolean {
  return value === null && type !== 'QUOTE_DOUBLE' && type !== 'QUOTE_SINGLE'
}

export function unknownName(name: string, known: readonly string[]): { message: string; hint: string } {
  const near = nearestSection(name, known) ?? nearestName(name, known)
  return {
    message: `Unknown setting '${name.slice(0, 200)}'`,
    hint: near ? `Did you mean '${near}'?` : 'See docs/configuration.md for all settings.',
  }
}

/** Where the section is unknown, its name is the mistake, whatever stands in it. */
function nearestSection(name: string, known: readonly string[]): string | undefined {
  const sections = [...new Set(known.map(sectionOf))]
  const section = sectionOf(name)
  return sections.includes(section) ? undefined : nearestName(section, sections)
}

const sectionOf = (name: string): string => name.split('.', 1)[0] ?? name
