/**
 * `holdfast recover`: bringing a cluster back that has lost its quorum, or that stops at an entry. Names, options and help.
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
    'bring back a cluster whose majority is gone for ever, that stops at an entry, or from copies; see deploy/runbooks/',
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
    .description('state that the disk of a stopped node is current, when nobody can prove it')
    .addOption(configOption())
    .option('--confirm', 'what this disk may have forgotten is given up')
    .option('--reason <text>', 'why; it stands in the audit log')
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
    .description('write down what a stopped survivor knows and holds; changes nothing')
    .addOption(configOption())
    .addOption(new Option('--out <dir>', 'where the report and the inventory go').makeOptionMandatory())
    .addOption(jsonOption())
    .addHelpText('after', examples('recover collect --config n1.yaml --out reports'))
    .action(async (options: CollectOptions) => {
      const { collectReport } = await import('../recover/collect.ts')
      done(await collectReport(options))
    })
}

function planCommand(done: Done): Command {
  return new Command('plan')
    .description('from the reports of all survivors, say who goes on and what is lost; changes nothing')
    .addOption(configOption())
    .addOption(
      new Option('--reports <dir>', 'reports and inventories of all survivors').makeOptionMandatory(),
    )
    .addOption(deadOption())
    .option('--restored', 'the data directories are copies that were put back: trust no majority of them')
    .option('--out <file>', 'keep the plan in a new file (otherwise it is only shown)')
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
    .description('bind a stopped survivor to the plan; to be done on every survivor before any is started')
    .addOption(configOption())
    .addOption(new Option('--plan <file>', 'what holdfast recover plan wrote').makeOptionMandatory())
    .addOption(jsonOption())
    .addHelpText('after', examples('recover apply --config n1.yaml --plan plan.json'))
    .action(async (options: ApplyOptions) => {
      const { applyPlan } = await import('../recover/apply.ts')
      done(await applyPlan(options))
    })
}

function verifyCommand(done: Done): Command {
  return withAdminAccess(new Command('verify'))
    .description('say whether the cluster that was brought back is whole; ends with 1 while it is not')
    .addOption(jsonOption())
    .addHelpText('after', examples('recover verify', 'recover verify --json'))
    .action(async (options: VerifyOptions) => {
      const { verifyRecovery } = await import('../recover/verify.ts')
      done(await verifyRecovery(options))
    })
}
