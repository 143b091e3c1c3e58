/**
 * `holdfast recover`: recovery of a cluster that has lost its quorum or stops at an entry. Names, options and help.
 */
import { Command, Option } from 'commander'
import type { ApplyOptions } from '../recover/apply.ts'
import type { CollectOptions } from '../recover/collect.ts'
import type { PlanOptions } from '../recover/plan.ts'
import type { TrustDiskOptions } from '../recover/trust-disk.ts'
import type { VerifyOptions } from '../recover/verify.ts'
import { configOption, type Done, examples, jsonOption, withAdminAccess } from './options.ts'
import { deadOption, skipEntryCommand } from './skip-entry.ts'

export function recoverCommand(done: Done): Command {
  const group = new Command('recover').description(
    'recover a cluster whose majority is permanently lost, that stops at an entry, or from copied data directories; see deploy/runbooks/',
  )
  const commands = [
    collectCommand,
    planCommand,
    applyCommand,
    verifyCommand,
    trustDiskCommand,
    skipEntryCommand,
  ]
  for (const command of commands) group.addCommand(command(done))
  return group
}

function trustDiskCommand(done: Done): Command {
  return new Command('trust-disk')
    .description('declare that the disk of a stopped node is current when the cluster cannot prove it')
    .addOption(configOption())
    .option('--confirm', 'accept the loss of anything that this disk no longer holds')
    .option('--reason <text>', 'why; recorded in the audit log')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'recover trust-disk --config n1.yaml',
        "recover trust-disk --config n1.yaml --reason 'it only lost power' --confirm",
      ),
    )
    .action(async (options: TrustDiskOptions) => {
      const { trustDisk } = await import('../recover/trust-disk.ts')
      done(await trustDisk(options))
    })
}

function collectCommand(done: Done): Command {
  return new Command('collect')
    .description('write a report and an inventory of a stopped survivor; changes nothing')
    .addOption(configOption())
    .addOption(new Option('--out <dir>', 'the folder for the report and the inventory').makeOptionMandatory())
    .addOption(jsonOption())
    .addHelpText('after', examples('recover collect --config n1.yaml --out reports'))
    .action(async (options: CollectOptions) => {
      const { collectReport } = await import('../recover/collect.ts')
      done(await collectReport(options))
    })
}

function planCommand(done: Done): Command {
  return new Command('plan')
    .description(
      'decide from the reports of all survivors which nodes continue and what is lost; changes nothing',
    )
    .addOption(configOption())
    .addOption(
      new Option('--reports <dir>', 'reports and inventories of all survivors').makeOptionMandatory(),
    )
    .addOption(deadOption())
    .option('--restored', 'the data directories are restored copies: a majority of them proves nothing')
    .option('--out <file>', 'write the plan to a new file (default: only print it)')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'recover plan --config n1.yaml --reports reports --dead n3,n4,n5',
        'recover plan --config n1.yaml --reports reports --dead n3,n4,n5 --out plan.json',
        'recover plan --config n1.yaml --reports reports --restored --out plan.json',
      ),
    )
    .action(async (options: PlanOptions) => {
      const { planFromReports } = await import('../recover/plan.ts')
      done(await planFromReports(options))
    })
}

function applyCommand(done: Done): Command {
  return new Command('apply')
    .description('bind a stopped survivor to the plan; run it on every survivor before any of them starts')
    .addOption(configOption())
    .addOption(new Option('--plan <file>', 'the file that holdfast recover plan wrote').makeOptionMandatory())
    .addOption(jsonOption())
    .addHelpText('after', examples('recover apply --config n1.yaml --plan plan.json'))
    .action(async (options: ApplyOptions) => {
      const { applyPlan } = await import('../recover/apply.ts')
      done(await applyPlan(options))
    })
}

function verifyCommand(done: Done): Command {
  return withAdminAccess(new Command('verify'))
    .description('check whether the recovered cluster is whole; exits with 1 while it is not')
    .addOption(jsonOption())
    .addHelpText('after', examples('recover verify', 'recover verify --json'))
    .action(async (options: VerifyOptions) => {
      const { verifyRecovery } = await import('../recover/verify.ts')
      done(await verifyRecovery(options))
    })
}
