/**
 * Checks answers against a contract document with a JSON Schema validator that shares nothing with the server.
 *
 * Owns: finding the description of an operation. Rule: it reads the text of the document and nothing of the routes.
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import formats from 'ajv-formats'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApiText } from '../../src/api/server/openapi-documents.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly example?: unknown
  readonly schema: object
  readonly 'x-rest-of-path'?: boolean
}

interface Content {
  readonly schema?: object
  readonly example?: unknown
}

interface Response {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, Content>>
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, Response>>
}

export interface DescribedOperation extends Operation {
  readonly method: string
  readonly path: string
}

export interface JudgedAnswer {
  readonly status: number
  readonly contentType: string | undefined
  /** Absent: not encoded. */
  readonly contentEncoding?: string | undefined
  readonly bytes: Buffer
}

export class ApiDocument {
  readonly operations: readonly DescribedOperation[]
  readonly #name: string
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #responses: Readonly<Record<string, Response>>

  constructor(name: 'data' | 'admin') {
    const document = JSON.parse(openApiText(name)) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
      readonly components: { readonly responses: Readonly<Record<string, Response>> }
    }
    this.#name = name
    this.#responses = document.components.responses
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
    // The package has no default export where types are erased and not compiled.
    formats.default(this.#ajv)
    this.#ajv.addFormat('binary', true)
    this.#ajv.addSchema(document, name)
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    )
  }

  operation(operationId: string): DescribedOperation {
    const found = this.operations.find((operation) => operation.operationId === operationId)
    if (found === undefined) throw new Error(`The ${this.#name} document has no operation ${operationId}`)
    return found
  }

  /** The fault of an answer; null: it matches its description. */
  faultOf(operation: DescribedOperation, answer: JudgedAnswer): string | null {
    const { status, bytes } = answer
    const response = operation.responses[status]
    if (response === undefined) return `status ${status} is not described`
    const at =
      response.$ref?.slice(1) ??
      pointer('paths', operation.path, operation.method.toLowerCase(), 'responses', `${status}`)
    const { content = {} } =
      response.$ref === undefined ? response : (this.#responses[lastOf(response.$ref)] ?? {})
    if (operation.method === 'HEAD') return bytes.length === 0 ? null : 'an answer to HEAD has a body'
    const type = (answer.contentType ?? '').split(';')[0]?.trim() ?? ''
    const types = Object.keys(content)
    if (types.length === 0)
      return bytes.length === 0 || status === 206 ? null : 'a body, and none is described'
    if (types.includes('*/*')) return null
    if (!types.includes(type)) return `content type "${type}" is none of ${types.join(', ')}`
    if (!type.endsWith('json')) return null
    const value = jsonOf(answer)
    if (value === undefined) return `the body is no JSON in the encoding "${answer.contentEncoding ?? ''}"`
    return this.#check(`${at}${pointer('content', type, 'schema')}`, value)
  }

  /** The same for a request body, or any value at a place in the document. */
  check(place: readonly string[], value: unknown): string | null {
    return this.#check(pointer(...place), value)
  }

  #check(at: string, value: unknown): string | null {
    const validate = this.#validators.get(at) ?? this.#ajv.compile({ $ref: `${this.#name}#${at}` })
    this.#validators.set(at, validate)
    return validate(value) ? null : this.#ajv.errorsText(validate.errors)
  }
}

/** Undefined: it is none. */
function jsonOf({ bytes, contentEncoding }: JudgedAnswer): unknown {
  try {
    return JSON.parse(decoded(bytes, contentEncoding).toString())
  } catch {
    // That is the fault.
    return undefined
  }
}

function decoded(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(bytes)
  return encoding === 'gzip' ? gunzipSync(bytes) : bytes
}

const lastOf = (reference: string): string => reference.split('/').at(-1) ?? ''

function pointer(...steps: readonly string[]): string {
  return steps
    .map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('')
}
