mod support;
mod referee;
