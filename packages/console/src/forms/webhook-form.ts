/**
 * A webhook of a bucket, and a CORS rule, as the fields of a form and back. Pure.
 *
 * Rule: the other webhooks are sent back as they are, by their ids, so that each keeps its secret.
 */
import type { DataOperations } from '../../../client/src/index.ts'
import { TEXT } from '../words/strings.ts'
import { listOf, wholeOf } from './fields.ts'
import { InputError } from './input-error.ts'

type Webhook = DataOperations['getBucketNotifications']['answer']['configs'][number]
export type CorsRule = DataOperations['getBucketCORS']['answer']['rules'][number]
export const EVENTS = ['object-created', 'object-removed', 'object-tagged', 'object-lock-changed'] as const
export const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const
export const FORMATS = ['native', 's3'] as const

export interface WebhookForm {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly prefix: string
  readonly suffix: string
  readonly enabled: boolean
  readonly payloadFormat: (typeof FORMATS)[number]
}

export const EMPTY_WEBHOOK: WebhookForm = {
  id: '',
  url: '',
  events: ['object-created', 'object-removed'],
  prefix: '',
  suffix: '',
  enabled: true,
  payloadFormat: 'native',
}

/** As it is sent: without what only the service sets. */
export const webhookFormOf = (hook: Webhook): WebhookForm => {
  const { id, url, events, prefix, suffix, enabled, payloadFormat } = hook
  return { id, url, events, prefix, suffix, enabled, payloadFormat }
}

/** Throws InputError. */
export function webhookOf({ id, url, events, ...rest }: WebhookForm) {
  const chosen = EVENTS.filter((event) => events.includes(event))
  if (chosen.length === 0) throw new InputError(TEXT.webhooks.noEvents)
  return { ...rest, ...(id.trim() === '' ? {} : { id: id.trim() }), url: url.trim(), events: chosen }
}

/** All of a bucket, with one of them replaced, added (`at` null) or left out (`form` null). Throws InputError. */
export function webhooksWith(hooks: readonly Webhook[], at: number | null, form: WebhookForm | null) {
  const kept = hooks.map((hook, n) => (n === at ? form : webhookFormOf(hook)))
  return [...kept, ...(at === null ? [form] : [])].filter((one) => one !== null).map(webhookOf)
}

export interface CorsForm {
  readonly id: string
  readonly origins: string
  readonly methods: readonly string[]
  readonly headers: string
  readonly exposed: string
  readonly maxAge: string
}

export const EMPTY_CORS: CorsForm = {
  id: '',
  origins: '',
  methods: ['GET', 'HEAD'],
  headers: '',
  exposed: '',
  maxAge: '',
}

export const corsFormOf = (rule: CorsRule): CorsForm => ({
  id: rule.id ?? '',
  origins: rule.allowedOrigins.join(', '),
  methods: rule.allowedMethods,
  headers: rule.allowedHeaders?.join(', ') ?? '',
  exposed: rule.exposeHeaders?.join(', ') ?? '',
  maxAge: rule.maxAgeSeconds === undefined ? '' : String(rule.maxAgeSeconds),
})

/** Throws InputError. */
export function corsRuleOf({ id, origins, methods, headers, exposed, maxAge }: CorsForm): CorsRule {
  const allowedMethods = METHODS.filter((method) => methods.includes(method))
  const seconds = wholeOf(maxAge, TEXT.cors.maxAge)
  if (listOf(origins).length === 0) throw new InputError(TEXT.cors.noOrigin)
  if (allowedMethods.length === 0) throw new InputError(TEXT.cors.noMethod)
  return {
    ...(id.trim() === '' ? {} : { id: id.trim() }),
    allowedOrigins: listOf(origins),
    allowedMethods,
    ...(listOf(headers).length === 0 ? {} : { allowedHeaders: listOf(headers) }),
    ...(listOf(exposed).length === 0 ? {} : { exposeHeaders: listOf(exposed) }),
    ...(seconds === undefined ? {} : { maxAgeSeconds: seconds }),
  }
}
