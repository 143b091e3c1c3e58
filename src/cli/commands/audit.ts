/**
 * `holdfast audit`: its names, options and help.
 */
import { Command, Option } from 'commander'
import type { VerifyAuditOptions } from '../local/audit-command.ts'
import type { QueryAuditOptions } from '../local/audit-query-command.ts'
import { countValue, dataOption, type Done, jsonLinesOption, jsonOption, withAdminAccess } from './options.ts'

const LIMIT_MAX = 1_000_000

export function auditCommand(done: Done): Command {
  const group = new Command('audit').description('the audit log of the cluster')
  group
    .command('verify')
    .description(
      'check that no row was changed, removed, reordered or cut off at the end (the node must be running)',
    )
    .addOption(dataOption())
    .option('--head <head>', 'the head that an earlier verify printed: the log must contain it')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nKeep the printed head outside of the cluster: with it a later check detects a log that was rewritten.\n\nExample:\n  holdfast audit verify --data data/n1',
    )
    .action(async (options: VerifyAuditOptions) => {
      const { verifyAudit } = await import('../local/audit-command.ts')
      done(await verifyAudit(options))
    })
  group.addCommand(auditQueryCommand(done))
  return group
}

function auditQueryCommand(done: Done): Command {
  return withAdminAccess(new Command('query'))
    .description('print rows of the audit log, the newest first, over the admin API')
    .option('--tenant <id>', 'only rows of this tenant')
    .option('--since <age>', 'only rows not older than this, such as 90s, 15m or 7d (default: 24h)')
    .option('--until <age>', 'only rows not newer than this')
    .addOption(
      new Option('--limit <n>', 'at most this many rows').argParser(countValue(LIMIT_MAX)).default(100),
    )
    .option('--operation <id>', 'only rows of this operation, such as deleteObject')
    .option('--actor <id>', 'only rows of this access key, admin token or signed URL')
    .option('--session <name>', 'only rows of this session of temporary credentials')
    .option('--bucket <name>', 'only rows about this bucket')
    .option('--key <key>', 'only rows about this object key; each key of a batch matches')
    .option('--key-prefix <prefix>', 'only rows about object keys with this prefix')
    .addOption(
      new Option('--outcome <outcome>', 'only rows with this outcome').choices([
        'success',
        'denied',
        'error',
      ]),
    )
    .option('--request-id <id>', 'only the rows of this request')
    .addOption(jsonLinesOption())
    .addHelpText(
      'after',
      '\nExamples:\n  HOLDFAST_ADMIN_TOKEN=$OWNER holdfast audit query --bucket photos --key 2026/cat.jpg\n  holdfast audit query --token-file owner.token --outcome denied --since 7d --json',
    )
    .action(async (options: QueryAuditOptions) => {
      const { queryAudit } = await import('../local/audit-query-command.ts')
      done(await queryAudit(options))
    })
}
