/**
 * `holdfast key test`: whether an access key may do something, and why.
 *
 * Rule: the exit code says it as well: 0 for yes, 1 for no.
 */
import type { AccessTest } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import { type AdminAccessOptions, tenantOf } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printable, printJson, printLine } from '../base/printing.ts'

export interface TestKeyOptions extends AdminAccessOptions {
  readonly tenant?: string
  readonly json?: boolean
  readonly versionId?: string
  readonly sourceIp?: string
  /** False: the request would come without TLS. */
  readonly secure: boolean
}

interface Aim {
  readonly keyId: string
  readonly operation: string
  /** `bucket` or `bucket/key`. Undefined: the operation aims at none. */
  readonly path: string | undefined
}

export function testKey({ keyId, operation, path }: Aim, options: TestKeyOptions): Promise<number> {
  const params = { id: tenantOf(options) }
  const { versionId, sourceIp, secure } = options
  const body = {
    accessKeyId: keyId,
    operation,
    secure,
    ...(path === undefined ? {} : placeOf(path)),
    ...(versionId === undefined ? {} : { versionId }),
    ...(sourceIp === undefined ? {} : { sourceIp }),
  }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('testAccess', { params, body })
    if (options.json) printJson(answer)
    else printLine(verdictOf(answer))
    return answer.allowed ? EXIT.done : EXIT.failed
  })
}

function placeOf(path: string): { readonly bucket: string; readonly key?: string } {
  const slash = path.indexOf('/')
  return slash === -1 ? { bucket: path } : { bucket: path.slice(0, slash), key: path.slice(slash + 1) }
}

function verdictOf({ allowed, code, reason, decidedBy, scopes, statement }: AccessTest): string {
  const found = scopes.map(
    ({ verb, bucket, prefix }) => `scope: op=${verb}:bucket=${bucket}:prefix=${prefix}`,
  )
  if (statement !== null) {
    const sid = statement.sid === null ? '' : ` "${statement.sid}"`
    const text = statement.document === null ? '' : ` ${JSON.stringify(statement.document)}`
    found.push(`statement ${statement.index}${sid}:${text === '' ? ' its text is shown to owners' : text}`)
  }
  const first = `${allowed ? 'yes' : `no (${code})`}: ${reason}`
  return [first, `decided by: ${decidedBy}`, ...found].map(printable).join('\n  ')
}
