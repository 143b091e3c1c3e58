/**
 * `holdfast backup`: its names, options and help.
 */
import { Command, Option } from 'commander'
import type { RestoreIntoOptions } from '../backup/restore-into.ts'
import type { CreateBackupOptions, LookOptions, VerifyOnlineOptions } from '../backup/backup-commands.ts'
import type { OpenBackupOptions } from '../backup/open-backup.ts'
import type { ResealOptions } from '../backup/reseal-backup.ts'
import type { RestoreOptions } from '../backup/restore-backup.ts'
import { pruneCommand, scheduleCommand, targetCommand } from './backup-plans.ts'
import {
  configOption,
  type Done,
  dryRunOption,
  examples,
  jsonLinesOption,
  jsonOption,
  reasonOption,
  sizeValue,
  withAdminAccess,
} from './options.ts'
import { withWait } from './wait-options.ts'

export function backupCommand(done: Done): Command {
  const group = new Command('backup').description(
    'backups of the running cluster, and clusters made from them',
  )
  for (const command of [
    createCommand,
    listCommand,
    showCommand,
    verifyCommand,
    verifyOnlineCommand,
    restoreCommand,
    resealCommand,
    restoreIntoCommand,
  ])
    group.addCommand(command(done))
  return group
    .addCommand(pruneCommand(done))
    .addCommand(targetCommand(done))
    .addCommand(scheduleCommand(done))
}

const targetOption = (flags: string): Option =>
  new Option(
    flags,
    'the target, such as directory:weekly, below backup.directory of the nodes',
  ).makeOptionMandatory()

function createCommand(done: Done): Command {
  return withWait(withAdminAccess(new Command('create')).addOption(dryRunOption()).addOption(jsonOption()))
    .description(
      'back up the cluster, or one tenant, as it is now; the target gets only what it does not have yet',
    )
    .addOption(targetOption('--to <target>'))
    .option('--tenant <id>', 'only what belongs to this tenant')
    .option('--max-rate <size>', 'bytes a second that are sent, such as 20MiB', sizeValue)
    .addOption(reasonOption())
    .addHelpText(
      'after',
      examples(
        "backup create --to directory:weekly --reason 'before the upgrade' --dry-run",
        "backup create --to directory:weekly --max-rate 50MiB --reason 'before the upgrade' --wait",
        "backup create --to nas --tenant acme --reason 'before the migration'",
      ),
    )
    .action(async (options: CreateBackupOptions) => {
      const { createBackup } = await import('../backup/backup-commands.ts')
      done(await createBackup(options))
    })
}

function listCommand(done: Done): Command {
  return withAdminAccess(new Command('list'))
    .description('list the finished backups of the cluster in a target, the oldest first')
    .addOption(targetOption('--from <target>'))
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('backup list --from directory:weekly'))
    .action(async (options: LookOptions) => {
      const { listBackups } = await import('../backup/backup-commands.ts')
      done(await listBackups(options))
    })
}

function showCommand(done: Done): Command {
  return withAdminAccess(new Command('show'))
    .description('show what a finished backup contains')
    .argument('<backup>', 'the id of the backup')
    .addOption(targetOption('--from <target>'))
    .addOption(jsonOption())
    .addHelpText('after', examples('backup show 20261127t120000z-0123abcd --from directory:weekly'))
    .action(async (backup: string, options: LookOptions) => {
      const { showBackup } = await import('../backup/backup-commands.ts')
      done(await showBackup(backup, options))
    })
}

const local = (name: string): Command =>
  new Command(name)
    .addOption(configOption())
    .addOption(
      new Option(
        '--from <target>',
        'the target as this machine sees it, such as directory:/mnt/backups/weekly',
      ).makeOptionMandatory(),
    )
    .option('--backup <id>', 'the backup (default: the newest of the whole cluster)')
    .option('--tenant <id>', 'the newest backup of this tenant')
    .addOption(jsonOption())

function verifyCommand(done: Done): Command {
  return local('verify')
    .description('read everything of a backup back and open it, without a node; names what is damaged')
    .addHelpText('after', examples('backup verify --config n1.yaml --from directory:/mnt/backups/weekly'))
    .action(async (options: OpenBackupOptions) => {
      const { verifyBackupCommand } = await import('../backup/verify-backup.ts')
      done(await verifyBackupCommand(options))
    })
}

function verifyOnlineCommand(done: Done): Command {
  return withWait(
    withAdminAccess(new Command('verify-online')).addOption(dryRunOption()).addOption(jsonOption()),
  )
    .description('have the node on duty read everything of a backup back; backup show names what is damaged')
    .argument('<backup>', 'the id of the backup')
    .addOption(targetOption('--from <target>'))
    .option('--max-rate <size>', 'bytes a second that are read, such as 20MiB', sizeValue)
    .addOption(reasonOption())
    .addHelpText(
      'after',
      examples(
        "backup verify-online 20261127t120000z-0123abcd --from nas --max-rate 50MiB --reason 'quarterly check' --wait",
      ),
    )
    .action(async (backup: string, options: VerifyOnlineOptions) => {
      const { verifyOnline } = await import('../backup/backup-commands.ts')
      done(await verifyOnline(backup, options))
    })
}

function restoreCommand(done: Done): Command {
  return local('restore')
    .description('make the data directory of a node of a new cluster from a backup, before its first start')
    .option('--out <file>', 'write what was restored, and what is missing, as JSON')
    .addHelpText(
      'after',
      examples('backup restore --config n1.yaml --from directory:/mnt/backups/weekly --out n1.restored.json'),
    )
    .action(async (options: RestoreOptions) => {
      const { restoreBackup } = await import('../backup/restore-backup.ts')
      done(await restoreBackup(options))
    })
}

function resealCommand(done: Done): Command {
  return local('reseal')
    .description('copy a backup so that it opens under another master key alone, without a node')
    .addOption(
      new Option(
        '--to <target>',
        'where the copy goes, such as directory:/media/handover',
      ).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--under-key <file>',
        'a master key file; its first key opens the copy',
      ).makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      examples(
        'backup reseal --config n1.yaml --from directory:/mnt/backups/weekly --tenant acme --to directory:/media/handover --under-key acme.key',
      ),
    )
    .action(async (options: ResealOptions) => {
      const { resealBackupCommand } = await import('../backup/reseal-backup.ts')
      done(await resealBackupCommand(options))
    })
}

function restoreIntoCommand(done: Done): Command {
  const command = new Command('restore-into').addOption(dryRunOption()).addOption(jsonOption())
  return withWait(withAdminAccess(command))
    .description('bring a tenant, or one of its buckets, back beside what the running cluster has now')
    .argument('<backup>', 'the id of the backup')
    .addOption(targetOption('--from <target>'))
    .option('--cluster <id>', 'the cluster that made the backup (default: this one)')
    .requiredOption('--tenant <tenant>', 'of the backup: its id, or a name that only one has')
    .option('--bucket <bucket>', 'of that tenant (default: the whole tenant)')
    .requiredOption('--to-tenant <id>', 'the new tenant; with --bucket, a tenant that exists')
    .option('--to-name <name>', 'the name of the new tenant (default: as it was called)')
    .option('--to-bucket <bucket>', 'the new bucket (default: as it was called)')
    .option('--max-rate <size>', 'bytes a second that are read from the backup, such as 20MiB', sizeValue)
    .addOption(reasonOption())
    .addHelpText(
      'after',
      examples(
        "backup restore-into 20261127t120000z-0123abcd --from nas --tenant acme --to-tenant acme-friday --reason 'a look back' --dry-run",
        "backup restore-into 20261127t120000z-0123abcd --from nas --tenant acme --bucket photos --to-tenant acme --to-bucket photos-friday --reason 'deleted by mistake' --wait",
      ),
    )
    .action(async (backup: string, options: RestoreIntoOptions) => {
      const { restoreInto } = await import('../backup/restore-into.ts')
      done(await restoreInto(backup, options))
    })
}
