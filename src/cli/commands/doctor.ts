/**
 * `holdfast doctor`: its options and help.
 */
import { Command } from 'commander'
import type { DoctorOptions } from '../doctor/doctor-command.ts'
import { configOption, type Done, examples, jsonOption } from './options.ts'

export function doctorCommand(done: Done): Command {
  return new Command('doctor')
    .description('say what is wrong with a node and what to do, whether it runs or not; changes nothing')
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nRun it as the user of the node. Ends with 1 when there is an error.\n${examples('doctor --config n1.yaml')}`,
    )
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import('../doctor/doctor-command.ts')
      done(await runDoctor(options))
    })
}
