/**
 * Writes the methods of the clients and the types of their inputs from an operation of a contract document.
 *
 * Owns: the names of options. Rules: a header is an option in camel case without `X-Service-`; `X-Service-Meta-*` is `metadata` and
 * `X-Service-Tagging` is `tags`; a header that a field of the JSON body repeats is left out, as is a second name of the same header.
 * A dry run is a method of its own, so that its answer has its own type.
 */
import { memberText, type Schema } from './schema-types.ts'

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
  readonly 'x-rest-of-path'?: boolean
}

/** An operation, as far as its method depends on it. */
export interface MethodFacts {
  readonly operationId: string
  readonly summary: string
  readonly parameters: readonly Parameter[]
  readonly body: 'none' | 'json' | 'bytes'
  readonly isBodyRequired: boolean
  /** Of the JSON body, with `$ref` resolved. */
  readonly bodySchema: Schema
  /** Of the successful JSON answer, with `$ref` resolved; {} without one. */
  readonly answerSchema: Schema
  readonly answer: 'json' | 'bytes' | 'text' | 'events' | 'empty'
  readonly method: string
}

/** Browsers choose what they can decode, and these two headers are one. */
const LEFT_OUT = ['Accept-Encoding', 'X-Service-Idempotency-Key']
const OWN_NAMES: Readonly<Record<string, string>> = {
  'X-Service-Meta-*': 'metadata',
  'X-Service-Tagging': 'tags',
}
const TEXTS: Schema = { type: 'object', additionalProperties: { type: 'string' } }

interface Option {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
  readonly place: { in: string; name: string; required?: true; form?: true }
}

const capital = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`

function optionName(header: string): string {
  const own = OWN_NAMES[header]
  if (own !== undefined) return own
  const [first = '', ...others] = header.replace(/^X-Service-/, '').split('-')
  return first.toLowerCase() + others.map(capital).join('')
}

function optionsOf({ parameters, body, bodySchema }: MethodFacts): readonly Option[] {
  const options = parameters
    .filter(({ name }) => !LEFT_OUT.includes(name))
    .map(({ name, schema, description, required = false, in: group }): Option => {
      const isRecord = name.endsWith('*') || name === 'X-Service-Tagging'
      const described = {
        ...(description === undefined ? {} : { description }),
        ...(isRecord ? TEXTS : schema),
      }
      return {
        name: group === 'header' ? optionName(name) : name,
        schema: described,
        isRequired: required,
        place: {
          in: group,
          name,
          ...(required ? { required: true } : {}),
          ...(name === 'X-Service-Tagging' ? { form: true } : {}),
        },
      }
    })
  const contentType: Option = {
    name: 'contentType',
    schema: { type: 'string', description: 'application/octet-stream unless given' },
    isRequired: false,
    place: { in: 'header', name: 'Content-Type' },
  }
  const fields = fieldsOf({ body, bodySchema })
  return [...options, ...(body === 'bytes' ? [contentType] : [])].filter(({ name }) => !fields.includes(name))
}

const fieldsOf = ({ body, bodySchema }: Pick<MethodFacts, 'body' | 'bodySchema'>): readonly string[] =>
  body === 'json' ? Object.keys(bodySchema.properties ?? {}) : []

/** The parts of a route that only methods need. */
export function methodRoute(facts: MethodFacts): object {
  const options = optionsOf(facts)
  return {
    options: Object.fromEntries(options.map(({ name, place }) => [name, place])),
    fields: fieldsOf(facts),
    cursors: cursorsOf(facts),
    items: cursorsOf(facts).length === 0 ? null : itemsOf(facts),
  }
}

function cursorsOf({ parameters, answerSchema }: MethodFacts): readonly string[] {
  const given = Object.keys(answerSchema.properties ?? {})
  return parameters.map(({ name }) => name).filter((name) => given.includes(`next${capital(name)}`))
}

/** The list of a page; prefixes are no entries. */
function itemsOf({ operationId, answerSchema }: MethodFacts): string {
  const lists = Object.entries(answerSchema.properties ?? {}).filter(([, { type }]) => type === 'array')
  const [name] = lists.map(([list]) => list).filter((list) => list !== 'commonPrefixes')
  if (name === undefined) throw new Error(`${operationId} has pages without a list`)
  return name
}

const isDry = ({ parameters }: MethodFacts): boolean => parameters.some(({ name }) => name === 'dryRun')
const inputName = ({ operationId }: MethodFacts): string => `${capital(operationId)}Input`

function inputText(facts: MethodFacts): string {
  const { body, bodySchema, isBodyRequired } = facts
  const options = optionsOf(facts).filter(({ name }) => name !== 'dryRun')
  const members = options.map(({ name, schema, isRequired }) => memberText(name, schema, isRequired))
  const { properties = {}, required = [] } = bodySchema
  if (body === 'json')
    for (const [name, schema] of Object.entries(properties))
      members.push(memberText(name, schema, isBodyRequired && required.includes(name)))
  if (body === 'bytes') members.push('readonly body: Body')
  return members.length === 0
    ? ''
    : `export interface ${inputName(facts)} {\n${members.map((member) => `  ${member}`).join('\n')}\n}\n`
}

const needsInput = (facts: MethodFacts): boolean =>
  facts.body === 'bytes' ||
  optionsOf(facts).some(({ isRequired }) => isRequired) ||
  (facts.isBodyRequired && (facts.bodySchema.required ?? []).length > 0)

function signature(facts: MethodFacts): { readonly given: string; readonly passed: string } {
  if (inputText(facts) === '') return { given: 'options?: MethodOptions', passed: 'undefined, options' }
  return {
    given: `input${needsInput(facts) ? '' : '?'}: ${inputName(facts)}, options?: MethodOptions`,
    passed: 'input, options',
  }
}

function answerType(facts: MethodFacts, Plane: string): string {
  const { operationId, answer, method } = facts
  if (answer === 'bytes') return 'ObjectDownload'
  if (method === 'HEAD') return 'ObjectHead'
  if (answer === 'empty') return 'void'
  const type = `${Plane}Operations['${operationId}']['answer']`
  return isDry(facts) ? `Exclude<${type}, Planned>` : type
}

function methodText(facts: MethodFacts, Plane: string): string {
  const { given, passed } = signature(facts)
  const { operationId, summary } = facts
  return [
    `  /** ${summary} */`,
    `  ${operationId}(${given}): Promise<${answerType(facts, Plane)}> {`,
    `    return this.run('${operationId}', ${passed})`,
    '  }',
  ].join('\n')
}

function dryText(facts: MethodFacts, Plane: string): string {
  const { given, passed } = signature(facts)
  const { operationId, summary } = facts
  return [
    `  /** What this would do: ${summary} */`,
    `  ${operationId}(${given}): Promise<Extract<${Plane}Operations['${operationId}']['answer'], Planned>> {`,
    `    return this.run('${operationId}', ${passed})`,
    '  }',
  ].join('\n')
}

function itemsText(facts: MethodFacts, Plane: string): string {
  const { operationId } = facts
  const items = itemsOf(facts)
  const { given, passed } = signature(facts)
  return [
    `  /** Each of all pages of ${operationId} */`,
    `  ${items}(${given}): AsyncGenerator<${Plane}Operations['${operationId}']['answer']['${items}'][number], void, undefined> {`,
    `    return this.each('${operationId}', ${passed})`,
    '  }',
  ].join('\n')
}

/** The whole file of one plane. `records`: the names of types that the other generated file exports. */
export function clientMethodsText(
  plane: 'data' | 'admin',
  operations: readonly MethodFacts[],
  records: readonly string[],
): string {
  const Plane = capital(plane)
  const inputs = operations.map(inputText).filter((text) => text !== '')
  const paged = operations.filter((facts) => cursorsOf(facts).length > 0)
  const dry = operations.filter(isDry)
  const methods = [
    ...operations.map((facts) => methodText(facts, Plane)),
    ...paged.map((facts) => itemsText(facts, Plane)),
  ]
  const text = [...inputs, ...methods].join('\n')
  const used = records.filter((name) => new RegExp(`[:(] ?(?:readonly )?\\(?${name}\\b`).test(text))
  const objects = ['ObjectDownload', 'ObjectHead'].filter((name) => text.includes(`<${name}>`))
  return [
    '/**',
    ` * The methods of the ${plane} plane as docs/openapi/${plane}.json has them. Made by \`node scripts/pages/client-types.ts\`.`,
    ' */',
    `import { ${[...(dry.length > 0 ? ['DryMethods'] : []), 'Methods', ...(dry.length > 0 ? ['type Planned'] : [])].join(', ')} } from '../methods/methods-base.ts'`,
    "import type { MethodOptions } from '../call/methods.ts'",
    ...(text.includes(': Body') ? ["import type { Body } from '../call/operation.ts'"] : []),
    ...(objects.length > 0 ? [`import type { ${objects.join(', ')} } from '../methods/object-head.ts'`] : []),
    `import type { ${[`${Plane}Operations`, ...used].join(', ')} } from './${plane}-operations.ts'`,
    '',
    ...inputs,
    `/** The operations with pages: their inputs and pages. */`,
    `export interface ${Plane}Pages {`,
    ...paged.map(
      (facts) =>
        `  readonly ${facts.operationId}: { readonly input: ${inputText(facts) === '' ? 'object' : inputName(facts)}; readonly page: ${Plane}Operations['${facts.operationId}']['answer'] }`,
    ),
    '}',
    '',
    `export abstract class ${Plane}Methods extends Methods<${Plane}Pages> {`,
    methods.join('\n\n'),
    '}',
    '',
    ...(dry.length === 0
      ? []
      : [
          '/** Each changes nothing and returns a plan: what the operation would do, and what blocks it. */',
          `export class ${Plane}DryRuns extends DryMethods {`,
          dry.map((facts) => dryText(facts, Plane)).join('\n\n'),
          '}',
          '',
        ]),
  ].join('\n')
}
