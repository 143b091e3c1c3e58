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
    .description('check that no row was changed, taken out, swapped or cut off (the node must be running)')
    .addOption(dataOption())
    .option('--head <head>', 'what verify printed earlier: the log must contain it')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nNote the head that it prints outside of the cluster: a later check finds with it whether the log was written anew.\n\nExample:\n  holdfast audit verify --data data/n1',
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
    .description('rows of the audit log, the newest first, asked over the admin API')
    .option('--tenant <id>', 'of this tenant')
    .option('--since <age>', 'not older, such as 90s, 15m or 7d (default: 24h)')
    .option('--until <age>', 'not newer')
    .addOption(
      new Option('--limit <n>', 'at most so many rows').argParser(countValue(LIMIT_MAX)).default(100),
    )
    .option('--operation <id>', 'of this operation, such as deleteObject')
    .option('--actor <id>', 'by this access key, admin token or signed URL')
    .option('--bucket <name>', 'in this bucket')
    .option('--key <key>', 'on this object key; a batch is found by each of its keys')
    .option('--key-prefix <prefix>', 'on object keys that begin so')
    .addOption(new Option('--outcome <outcome>', 'how it ended').choices(['success', 'denied', 'error']))
    .option('--request-id <id>', 'of one request')
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
