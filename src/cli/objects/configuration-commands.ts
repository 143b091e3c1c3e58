/**
 * `holdfast cors` and `holdfast notifications`: the parts of a bucket that are set as a whole, from a JSON file.
 *
 * Rule: what `get --json` prints can be changed and given to `set`.
 */
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { jsonInput, listIn } from '../base/json-input.ts'
import { note, printable, printJson, printLine, printTable } from '../base/printing.ts'
import { deliveryRow, type Delivery } from './delivery-commands.ts'

export interface ConfigurationOptions extends DataAccessOptions {
  readonly json?: boolean
}

type Rules = DataOperations['setBucketCORS']['call']['body']
type Configs = DataOperations['setBucketNotifications']['call']['body']
type KnownConfig = DataOperations['getBucketNotifications']['answer']['configs'][number]

export function getCors(bucket: string, options: ConfigurationOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('getBucketCORS', { params: { bucket } })
    if (options.json) printJson(answer)
    else printLine(JSON.stringify(answer, null, 2))
    return EXIT.done
  })
}

const CORS_EXAMPLE = '{"rules":[{"allowedOrigins":["https://app.example.net"],"allowedMethods":["GET"]}]}'

export async function setCors(bucket: string, file: string, options: ConfigurationOptions): Promise<number> {
  const from = { file, what: 'CORS rules', example: CORS_EXAMPLE }
  const rules = listIn(await jsonInput(file, from.what, from.example), 'rules', from) as Rules['rules']
  return askData(options, async (client) => {
    const { answer } = await client.call('setBucketCORS', { params: { bucket }, body: { rules } })
    if (options.json) printJson(answer)
    else note(`${bucket} has ${answer.rules.length} CORS rules now`)
    return EXIT.done
  })
}

export function deleteCors(bucket: string, options: ConfigurationOptions): Promise<number> {
  return askData(options, async (client) => {
    await client.call('deleteBucketCORS', { params: { bucket } })
    if (options.json) printJson({ bucket, deleted: true })
    else note(`${bucket} has no CORS rules now`)
    return EXIT.done
  })
}

export function getNotifications(bucket: string, options: ConfigurationOptions): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('getBucketNotifications', { params: { bucket } })
    if (options.json) printJson(answer)
    else if (answer.configs.length === 0) note(`${bucket} has no notifications`)
    else
      printTable([['ID', 'STATE', 'WAITING', 'GIVEN UP', 'EVENTS', 'URL'], ...answer.configs.map(configRow)])
    return EXIT.done
  })
}

function configRow(config: KnownConfig): readonly string[] {
  const { id, enabled, suspended, pendingCount, deadCount, events, url } = config
  const state = suspended ? 'suspended' : enabled ? 'on' : 'off'
  return [id, state, `${pendingCount}`, `${deadCount}`, events.join(','), printable(url)]
}

const HOOK_EXAMPLE =
  '{"configs":[{"id":"app","url":"https://app.example.net/hook","events":["object-created","object-removed"]}]}'

/** What the service adds to a configuration; it is not given back. */
const ANSWERED = [
  ...(['signingSecret', 'hasSecret', 'suspended', 'suspensionReason', 'createdAt', 'updatedAt'] as const),
  ...(['pendingCount', 'deadCount', 'droppedCount', 'droppedAt'] as const),
] as const

export async function setNotifications(
  bucket: string,
  file: string,
  options: ConfigurationOptions,
): Promise<number> {
  const from = { file, what: 'notification configs', example: HOOK_EXAMPLE }
  const given = listIn(await jsonInput(file, from.what, from.example), 'configs', from)
  const configs = given.map(withoutAnswered) as Configs['configs']
  return askData(options, async (client) => {
    const { answer } = await client.call('setBucketNotifications', { params: { bucket }, body: { configs } })
    if (options.json) {
      printJson(answer)
      return EXIT.done
    }
    note(`${bucket} has ${answer.configs.length} notification configs now`)
    for (const { id, signingSecret } of answer.configs)
      if (signingSecret !== undefined) {
        printLine(`${id}  ${signingSecret}`)
        note('This signing secret is shown only here.')
      }
    return EXIT.done
  })
}

function withoutAnswered(config: unknown): unknown {
  if (typeof config !== 'object' || config === null) return config
  const answered: readonly string[] = ANSWERED
  return Object.fromEntries(Object.entries(config).filter(([name]) => !answered.includes(name)))
}

export function deleteNotifications(bucket: string, options: ConfigurationOptions): Promise<number> {
  return askData(options, async (client) => {
    await client.call('deleteBucketNotifications', { params: { bucket } })
    if (options.json) printJson({ bucket, deleted: true })
    else note(`${bucket} has no notifications now`)
    return EXIT.done
  })
}

export function testNotification(
  bucket: string,
  configId: string,
  options: ConfigurationOptions,
): Promise<number> {
  return askData(options, async (client) => {
    const { answer } = await client.call('testNotification', { params: { bucket, configId } })
    return shownDelivery(answer, options)
  })
}

function shownDelivery(delivery: Delivery, { json = false }: ConfigurationOptions): number {
  if (json) printJson(delivery)
  else printTable([deliveryRow(delivery)])
  return EXIT.done
}
