/**
 * `holdfast cluster`: its names, options and help.
 */
import { Command } from 'commander'
import type { ClusterDoctorOptions } from '../admin/doctor-command.ts'
import type {
  OperationOptions,
  RebalanceOptions,
  ScrubOptions,
  StartOptions,
} from '../admin/operation-commands.ts'
import type { PlaceOptions } from '../admin/place-command.ts'
import type { PlanPlacementOptions } from '../admin/placement-plan-command.ts'
import type { PlacementOptions } from '../admin/placement-commands.ts'
import type { RepairOptions, ResumeCollectionOptions } from '../admin/repair-commands.ts'
import { disksCommand } from './disks.ts'
import { memberCommands, statusCommand } from './members.ts'
import {
  type Done,
  dryRunOption,
  examples,
  jsonLinesOption,
  jsonOption,
  orNone,
  pairValue,
  reasonOption,
  sizeValue,
  weightValue,
  withAdminAccess,
} from './options.ts'
import { timeCommand } from './time.ts'
import { withWait } from './wait-options.ts'

export function clusterCommand(done: Done): Command {
  const group = new Command('cluster')
    .description('members of the cluster, long operations, repair, placement and the cluster time')
    .addCommand(statusCommand(done))
    .addCommand(operationsCommand(done))
    .addCommand(rebalanceCommand(done))
    .addCommand(scrubCommand(done))
    .addCommand(recountCommand(done))
    .addCommand(repairCommand(done))
    .addCommand(placementCommand(done))
    .addCommand(planPlacementCommand(done))
    .addCommand(placeCommand(done))
    .addCommand(disksCommand(done))
    .addCommand(doctorCommand(done))
    .addCommand(timeCommand(done))
  for (const command of memberCommands(done)) group.addCommand(command)
  return group
}

function doctorCommand(done: Done): Command {
  return withAdminAccess(new Command('doctor'))
    .description('report what the doctor finds on all members and what to do about it; changes nothing')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nExits with 1 if a member reports an error or does not answer.\n${examples('cluster doctor')}`,
    )
    .action(async (options: ClusterDoctorOptions) => {
      const { clusterDoctor } = await import('../admin/doctor-command.ts')
      done(await clusterDoctor(options))
    })
}

const change = (name: string): Command =>
  withAdminAccess(new Command(name)).addOption(dryRunOption()).addOption(jsonOption())

function operationsCommand(done: Done): Command {
  const group = new Command('operations').description('long operations, which continue when a node fails')
  group.addCommand(
    withAdminAccess(new Command('list'))
      .description('list operations, the oldest first')
      .addOption(jsonLinesOption())
      .addHelpText('after', examples('cluster operations list'))
      .action(async (options: OperationOptions) => {
        const { listOperations } = await import('../admin/operation-commands.ts')
        done(await listOperations(options))
      }),
  )
  for (const name of ['get', 'watch'] as const) group.addCommand(lookCommand(name, done))
  for (const how of ['cancel', 'pause', 'resume'] as const) group.addCommand(steerCommand(how, done))
  return group
}

const LOOKS = {
  get: 'show an operation',
  watch: 'follow an operation to its end, with a progress bar on a terminal',
} as const

function lookCommand(name: keyof typeof LOOKS, done: Done): Command {
  return withAdminAccess(new Command(name))
    .description(LOOKS[name])
    .argument('<id>')
    .addOption(jsonOption())
    .addHelpText('after', examples(`cluster operations ${name} op_01JD…`))
    .action(async (id: string, options: OperationOptions) => {
      const { getOperation, watchOperation } = await import('../admin/operation-commands.ts')
      done(await (name === 'get' ? getOperation : watchOperation)(id, options))
    })
}

const STEERS = {
  cancel: 'end an operation permanently',
  pause: 'pause an operation: it starts no new work',
  resume: 'continue a paused operation',
} as const

function steerCommand(how: keyof typeof STEERS, done: Done): Command {
  return change(how)
    .description(STEERS[how])
    .argument('<id>')
    .addHelpText('after', examples(`cluster operations ${how} op_01JD…`))
    .action(async (id: string, options: OperationOptions) => {
      const { steerOperation } = await import('../admin/operation-commands.ts')
      done(await steerOperation(how, id, options))
    })
}

function rebalanceCommand(done: Done): Command {
  return withWait(change('rebalance'))
    .description('move the copies of a tenant or a bucket to the nodes where placement puts them')
    .argument('<tenant>', 'the id of the tenant')
    .option('--bucket <name>', 'only this bucket')
    .option('--max-rate <size>', 'bytes a second for all nodes together, such as 20MiB', sizeValue)
    .addOption(reasonOption())
    .addHelpText(
      'after',
      examples(
        "cluster rebalance acme --reason 'a new node' --dry-run",
        "cluster rebalance acme --bucket photos --reason 'a new node' --wait",
      ),
    )
    .action(async (tenant: string, options: RebalanceOptions) => {
      const { rebalance } = await import('../admin/operation-commands.ts')
      done(await rebalance(tenant, options))
    })
}

function scrubCommand(done: Done): Command {
  return withWait(change('scrub'))
    .description('read and verify every copy now; damaged copies are replaced')
    .option('--node <id>', 'only the copies on this node')
    .addOption(reasonOption())
    .addHelpText('after', examples("cluster scrub --node n2 --reason 'the disk made noises' --wait"))
    .action(async (options: ScrubOptions) => {
      const { scrub } = await import('../admin/operation-commands.ts')
      done(await scrub(options))
    })
}

function recountCommand(done: Done): Command {
  return withWait(change('recount'))
    .description('recount all references and usage; a difference halts garbage collection')
    .addOption(reasonOption())
    .addHelpText('after', examples("cluster recount --reason 'after an upgrade' --wait"))
    .action(async (options: StartOptions) => {
      const { recount } = await import('../admin/operation-commands.ts')
      done(await recount(options))
    })
}

function placementCommand(done: Done): Command {
  return withAdminAccess(new Command('placement'))
    .description('show where the copies are, by node and zone, and how far that is from the weights')
    .option('--tenant <id>', 'only what this tenant stores')
    .option('--bucket <name>', 'only this bucket of the tenant')
    .option('--by-disk', 'ask each node on which of its disks the copies are; takes longer')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'cluster placement',
        'cluster placement --by-disk',
        'cluster placement --tenant acme --bucket photos --json',
      ),
    )
    .action(async (options: PlacementOptions) => {
      const { showPlacement } = await import('../admin/placement-commands.ts')
      done(await showPlacement(options))
    })
}

function planPlacementCommand(done: Done): Command {
  return withAdminAccess(new Command('plan-placement'))
    .description('show what a rebalance would move if members had other weights or zones; nothing changes')
    .option('--weight <node=weight>', 'repeatable: the weight that a member would have', pairValue)
    .option('--zone <node=zone>', 'repeatable: the zone that a member would be in', pairValue)
    .option('--tenant <id>', 'only what this tenant stores')
    .option('--bucket <name>', 'only this bucket of the tenant')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'cluster plan-placement --weight n4=2',
        'cluster plan-placement --zone n3=rack-3 --tenant acme',
      ),
    )
    .action(async (options: PlanPlacementOptions) => {
      const { planPlacement } = await import('../admin/placement-plan-command.ts')
      done(await planPlacement(options))
    })
}

function placeCommand(done: Done): Command {
  return change('place')
    .description('set the weight or zone of a member over what the file of its node says')
    .argument('<nodeId>')
    .option('--weight <n>', 'its relative share of copies, 0 to 1000; 0: no new ones', weightValue)
    .option('--zone <zone>', 'the failure zone of the node, such as a rack')
    .option('--clear', 'return to what the file of the node says')
    .option('--reason <text>', 'why; recorded in the audit log; with --weight or --zone')
    .addHelpText(
      'after',
      examples(
        "cluster place n4 --weight 2 --reason 'twice the disks' --dry-run",
        'cluster place n4 --clear',
      ),
    )
    .action(async (nodeId: string, options: PlaceOptions) => {
      const { placeMember } = await import('../admin/place-command.ts')
      done(await placeMember(nodeId, options))
    })
}

function repairCommand(done: Done): Command {
  return new Command('repair')
    .description('rate and progress of the repair of copies, and garbage collection')
    .addCommand(
      withAdminAccess(new Command('get'))
        .description('show the rate, the state of garbage collection, and every node')
        .addOption(jsonOption())
        .addHelpText('after', examples('cluster repair get'))
        .action(async (options: RepairOptions) => {
          const { getRepair } = await import('../admin/repair-commands.ts')
          done(await getRepair(options))
        }),
    )
    .addCommand(
      change('set')
        .description('set the rate for all nodes; repair of data with a single copy left ignores it')
        .argument('<rate>', 'bytes a second, such as 20MiB, or none', orNone(sizeValue))
        .addHelpText('after', examples('cluster repair set 20MiB', 'cluster repair set none'))
        .action(async (rate: number | 'none', options: RepairOptions) => {
          const { setRepair } = await import('../admin/repair-commands.ts')
          done(await setRepair(rate, options))
        }),
    )
    .addCommand(
      change('resume-collection')
        .description('continue garbage collection after it was halted')
        .addOption(reasonOption())
        .addHelpText(
          'after',
          examples("cluster repair resume-collection --reason 'the recount found no difference'"),
        )
        .action(async (options: ResumeCollectionOptions) => {
          const { resumeCollection } = await import('../admin/repair-commands.ts')
          done(await resumeCollection(options))
        }),
    )
}
