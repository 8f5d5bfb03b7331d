#include "training_options.hpp"

namespace ckpt {

void TrainingOptions::add(CLI::App& app) {
  app.add_option("--optimizer-out", optimizer_out,
                 "Write the optimizer's state as burn's record, keyed by the ids of OUT")
      ->type_name("FILE");
  app.add_option("--scheduler-out", scheduler_out,
                 "Write the state of the learning-rate scheduler as burn's record")
      ->type_name("FILE");
  app.add_option("--optimizer", optimizer,
                 "Take the optimizer's state from this file; a PyTorch OUT holds it beside the model")
      ->type_name("FILE");
  app.add_option("--scheduler", scheduler, "The same for burn's record of a scheduler")->type_name("FILE");
  app.add_option("--optimizer-key", optimizer_key, "Which optimizer, where a checkpoint holds several")
      ->type_name("KEY");
  app.add_option("--optimizer-kind", optimizer_kind,
                 "Adam or AdamW, SGD or Muon, where the state does not tell")
      ->type_name("KIND");
  app.add_option("--param-names", param_names, "Names of the parameters by position, one a line")
      ->type_name("FILE");
  app.add_option("--hyper", hypers, "A setting of the optimizer that is written (repeatable)")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--model", model, "With --drop-orphans: the model that the record IN belongs to")
      ->type_name("FILE");
  app.add_flag("--drop-orphans", drop_orphans,
               "Leave out the state of parameters that the model does not have");
}

}  // namespace ckpt
