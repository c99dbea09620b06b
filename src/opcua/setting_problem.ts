/** A setting with which the server cannot start. The message is the rest of a sentence about it. */
export class SettingProblem extends Error {
  readonly setting: string;

  constructor(setting: string, message: string) {
    super(message);
    this.name = 'SettingProblem';
    this.setting = setting;
  }
}
