/**
 * `holdfast backup target` and `holdfast backup schedule`: their names, options and help.
 */
import { Command, Option } from 'commander'
import type { PruneOptions, ScheduleOptions, SetScheduleOptions } from '../backup/schedule-commands.ts'
import type { SetTargetOptions, TargetOptions } from '../backup/target-commands.ts'
import {
  countValue,
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

const KEEP_MAX = 1_000
const KEEPS = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly'] as const

export function targetCommand(done: Done): Command {
  return new Command('target')
    .description('named places where backups go: a shared directory, or a bucket of an S3 store')
    .addCommand(setTargetCommand(done))
    .addCommand(listTargetsCommand(done))
    .addCommand(showTargetCommand(done))
    .addCommand(removeTargetCommand(done))
}

function setTargetCommand(done: Done): Command {
  return withAdminAccess(new Command('set'))
    .description('set a place where backups go, once it has taken, shown and removed a few bytes')
    .argument('<name>', 'of the target, such as nas')
    .addOption(
      new Option(
        '--directory [folder]',
        'below backup.directory of the nodes, the same file system on each',
      ).conflicts('s3'),
    )
    .option('--s3 <url>', 'the endpoint of an S3 store, such as https://s3.example.net')
    .option('--bucket <name>', 'of the S3 store')
    .option('--prefix <prefix>', 'of the names in the bucket')
    .option('--region <name>', 'of the signatures (default: us-east-1)')
    .option(
      '--key-file <file>',
      'a file with AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=… (default: the environment)',
    )
    .option('--store-ca <file>', 'the CA certificate of the S3 store (PEM)')
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'backup target set nas --directory weekly',
        'backup target set far --s3 https://s3.example.net --bucket backups --key-file far.env --dry-run',
      ),
    )
    .action(async (name: string, options: SetTargetOptions) => {
      const { setTarget } = await import('../backup/target-commands.ts')
      done(await setTarget(name, options))
    })
}

function listTargetsCommand(done: Done): Command {
  return withAdminAccess(new Command('list'))
    .description('list the places where backups go')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('backup target list'))
    .action(async (options: TargetOptions) => {
      const { listTargets } = await import('../backup/target-commands.ts')
      done(await listTargets(options))
    })
}

function showTargetCommand(done: Done): Command {
  return withAdminAccess(new Command('show'))
    .description('show a place where backups go, without its secret')
    .argument('<name>')
    .addOption(jsonOption())
    .addHelpText('after', examples('backup target show nas'))
    .action(async (name: string, options: TargetOptions) => {
      const { showTarget } = await import('../backup/target-commands.ts')
      done(await showTarget(name, options))
    })
}

function removeTargetCommand(done: Done): Command {
  return withAdminAccess(new Command('remove'))
    .description('forget a place where backups go; what lies there stays')
    .argument('<name>')
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('backup target remove nas'))
    .action(async (name: string, options: TargetOptions) => {
      const { removeTarget } = await import('../backup/target-commands.ts')
      done(await removeTarget(name, options))
    })
}

export function scheduleCommand(done: Done): Command {
  return new Command('schedule')
    .description('when backups are made by themselves, and which of them stay')
    .addCommand(setScheduleCommand(done))
    .addCommand(listSchedulesCommand(done))
    .addCommand(showScheduleCommand(done))
    .addCommand(removeScheduleCommand(done))
}

export function pruneCommand(done: Done): Command {
  const command = withWait(
    withAdminAccess(new Command('prune')).addOption(dryRunOption()).addOption(jsonOption()),
  )
    .description('remove the backups of the cluster that no --keep option keeps, and what only they need')
    .addOption(
      new Option(
        '--from <target>',
        'the name of a backup target, or such as directory:weekly',
      ).makeOptionMandatory(),
    )
    .option('--tenant <id>', 'the rules are about the backups of this tenant; all others stay')
  return withKeepOptions(command)
    .addOption(reasonOption())
    .addHelpText(
      'after',
      examples(
        "backup prune --from nas --keep-daily 7 --keep-weekly 4 --reason 'the target fills' --dry-run",
        "backup prune --from directory:weekly --keep-last 3 --reason 'the target fills' --wait",
      ),
    )
    .action(async (options: PruneOptions) => {
      const { pruneBackups } = await import('../backup/schedule-commands.ts')
      done(await pruneBackups(options))
    })
}

/** `--keep-last 3`, and so on. */
export function withKeepOptions(command: Command): Command {
  for (const rule of KEEPS) {
    const meaning =
      rule === 'last'
        ? 'the newest <n> backups stay'
        : `the newest of each of <n> ${rule} periods stays, in UTC`
    command.option(`--keep-${rule} <n>`, meaning, countValue(KEEP_MAX))
  }
  return command
}

function setScheduleCommand(done: Done): Command {
  const command = withAdminAccess(new Command('set'))
    .description('set when backups are made and where they go; without --keep options all of them stay')
    .argument('<name>', 'of the schedule, such as nightly')
    .addOption(new Option('--to <target>', 'the name of a backup target').makeOptionMandatory())
    .option('--tenant <id>', 'back up only this tenant (default: the whole cluster)')
    .addOption(
      new Option(
        '--when <fields>',
        "minute, hour, day, month and weekday in UTC, such as '30 2 * * *'",
      ).makeOptionMandatory(),
    )
    .option('--max-rate <size>', 'bytes a second that are sent, such as 20MiB', sizeValue)
    .option('--paused', 'no backup is started until it is set again without this')
  return withKeepOptions(command)
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        "backup schedule set nightly --to nas --when '30 2 * * *' --keep-daily 7 --keep-weekly 4",
        "backup schedule set hourly --to far --when '0 * * * *' --max-rate 20MiB --dry-run",
      ),
    )
    .action(async (name: string, options: SetScheduleOptions) => {
      const { setSchedule } = await import('../backup/schedule-commands.ts')
      done(await setSchedule(name, options))
    })
}

function listSchedulesCommand(done: Done): Command {
  return withAdminAccess(new Command('list'))
    .description('list the schedules, when each runs next, and how its last backup ended')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('backup schedule list'))
    .action(async (options: ScheduleOptions) => {
      const { listSchedules } = await import('../backup/schedule-commands.ts')
      done(await listSchedules(options))
    })
}

function showScheduleCommand(done: Done): Command {
  return withAdminAccess(new Command('show'))
    .description('show a schedule, when it runs next, and how its backups ended')
    .argument('<name>')
    .addOption(jsonOption())
    .addHelpText('after', examples('backup schedule show nightly'))
    .action(async (name: string, options: ScheduleOptions) => {
      const { showSchedule } = await import('../backup/schedule-commands.ts')
      done(await showSchedule(name, options))
    })
}

function removeScheduleCommand(done: Done): Command {
  return withAdminAccess(new Command('remove'))
    .description('remove a schedule; its backups stay, and one that is under way continues')
    .argument('<name>')
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('backup schedule remove nightly'))
    .action(async (name: string, options: ScheduleOptions) => {
      const { removeSchedule } = await import('../backup/schedule-commands.ts')
      done(await removeSchedule(name, options))
    })
}
