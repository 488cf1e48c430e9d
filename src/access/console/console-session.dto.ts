import { IsString, MaxLength } from 'class-validator';

export class ConsoleSignIn {
  @IsString()
  @MaxLength(1_000)
  key: string;
}
